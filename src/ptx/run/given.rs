//! Arguments of an entry, and the fields that they point to.

use super::field::EntryField;
use super::machine::Argument;
use super::refusal::EntryNotRun;
use crate::ptx::argument::{self, Given, Wrong};
use crate::ptx::syntax::{Function, Param};

/// Arguments for all parameters of an entry, and the fields that they point to. Each text is `NAME=VALUE`: the name or
/// the number of a parameter, and a number, or a field with or without type and length, also some bytes behind its
/// beginning (`x+8:f32[1024]`). `NAME+BYTE=VALUE` is a part of a struct. A parameter that nothing is said of is a pointer
/// to a field of its own name, if it has the size of one, or a number with a fraction that is not known.
pub fn given(entry: &Function, texts: &[String]) -> Result<(Vec<Argument>, Vec<EntryField>), EntryNotRun> {
    let told = |Wrong { message, help }| EntryNotRun::Arguments(format!("{message}; {help}"));
    let mut values: Vec<Vec<(Option<u32>, Given)>> = vec![Vec::new(); entry.params.len()];
    for argument in argument::arguments(entry, texts).map_err(told)? {
        values[argument.parameter].push((argument.byte, argument.value));
    }
    let mut fields = Vec::new();
    let mut arguments = Vec::new();
    for (number, (param, given)) in entry.params.iter().zip(&values).enumerate() {
        let argument = match given.as_slice() {
            [] => nothing(number, param, &mut fields)?,
            [(None, given)] => value(number, param, given, &mut fields)?,
            parts => Argument::Parts(
                parts
                    .iter()
                    .map(|part| self::part(number, param, part, &mut fields))
                    .collect::<Result<_, _>>()?,
            ),
        };
        arguments.push(argument);
    }
    Ok((arguments, fields))
}

/// A part of a struct: where it begins, its bytes, and what it is. A number has as many bytes as fit at its place, up to
/// 8: what lies behind is put there later.
fn part(
    number: usize,
    param: &Param,
    (byte, given): &(Option<u32>, Given),
    fields: &mut Vec<EntryField>,
) -> Result<(u32, u32, Argument), EntryNotRun> {
    let at = byte.unwrap_or(0);
    let value = value(number, param, given, fields)?;
    let left = param.bytes().saturating_sub(u64::from(at)).min(8);
    let aligned = [8_u32, 4, 2, 1].into_iter().find(|n| at % n == 0 && u64::from(*n) <= left).unwrap_or(1);
    // What may be an `int` is one: the upper half of a longer number would overwrite what stands behind it.
    let bytes = match &value {
        Argument::Integer(n) if i32::try_from(*n).is_ok() => aligned.min(4),
        _ => aligned,
    };
    Ok((at, bytes, value))
}

/// A parameter of which nothing is said.
fn nothing(number: usize, param: &Param, fields: &mut Vec<EntryField>) -> Result<Argument, EntryNotRun> {
    if param.count.is_none() && param.element.kind == 'f' {
        return Ok(Argument::AnyFloat);
    }
    if param.bytes() != 8 {
        return Err(EntryNotRun::Arguments(format!(
            "nothing says what the parameter {number}, `{}`, is: give `--arg {number}=VALUE`",
            param.name
        )));
    }
    Ok(pointer(&param.name, 0, None, fields))
}

/// What was given.
fn value(
    number: usize,
    param: &Param,
    given: &Given,
    fields: &mut Vec<EntryField>,
) -> Result<Argument, EntryNotRun> {
    match given {
        // One beyond the signed ones is meant by its bits; more than 64 were refused.
        Given::Whole(n) => {
            let bits = i64::try_from(*n).or_else(|_| u64::try_from(*n).map(u64::cast_signed));
            let wrong = |_| EntryNotRun::Arguments(format!("{n} has more than 64 bits"));
            bits.map(Argument::Integer).map_err(wrong)
        }
        Given::Fraction(value) => Ok(Argument::Float(*value)),
        Given::Pointer(given) => Ok(pointer(&given.name, given.offset, given.bytes, fields)),
        Given::Nothing => nothing(number, param, fields),
    }
}

/// A pointer to a field, which is a new one if none has this name.
fn pointer(name: &str, offset: i64, bytes: Option<u64>, fields: &mut Vec<EntryField>) -> Argument {
    let known = fields.iter().position(|f| f.name == *name);
    let field = known.unwrap_or(fields.len());
    if known.is_none() {
        fields.push(EntryField::new(name));
    }
    fields[field].bytes = bytes.or(fields[field].bytes);
    Argument::Pointer { field, offset }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::syntax::parse;

    fn given_to(params: &str, texts: &[&str]) -> Result<(Vec<Argument>, Vec<EntryField>), EntryNotRun> {
        let text =
            format!(".version 8.0 .target sm_80 .address_size 64 .visible .entry k({params}) {{ ret; }}");
        let module = parse(&text, Default::default()).unwrap();
        let texts: Vec<String> = texts.iter().map(|t| (*t).to_owned()).collect();
        given(module.entries().next().unwrap(), &texts)
    }

    #[test]
    fn parameters_get_what_is_given() {
        let params = ".param .u32 n, .param .f32 a, .param .u64 x, .param .u64 y";
        let (arguments, fields) = given_to(params, &["n=-3", "1=2.5", "2=z+8:f32[10]"]).unwrap();
        let pointer = |field, offset| Argument::Pointer { field, offset };
        assert_eq!(arguments, [Argument::Integer(-3), Argument::Float(2.5), pointer(0, 8), pointer(1, 0)]);
        let known: Vec<_> = fields.iter().map(|f| (f.name.as_str(), f.bytes)).collect();
        assert_eq!(known, [("z", Some(40)), ("y", None)]);
        let missing = given_to(params, &["1=2.5"]).unwrap_err().to_string();
        assert!(missing.ends_with("the parameter 0, `n`, is: give `--arg 0=VALUE`"), "{missing}");
        assert_eq!(given_to(params, &["n=1"]).unwrap().0[1], Argument::AnyFloat);
        assert!(given_to(params, &["m=1"]).is_err());
        assert!(given_to(params, &["n=1", "0=1", "1=1"]).is_err());
        let wide = given_to(".param .u64 n", &["0=0xffffffffffffffff"]).unwrap();
        assert_eq!(wide.0, [Argument::Integer(-1)]);
    }

    #[test]
    fn structs_have_parts() {
        let params = ".param .align 8 .b8 s[32]";
        let (arguments, _) = given_to(params, &["0+0=40", "0+4=30", "0+8=0.5", "0+16=x", "s+24=y"]).unwrap();
        let Argument::Parts(parts) = &arguments[0] else { panic!("{arguments:?}") };
        let places: Vec<_> = parts.iter().map(|(at, bytes, _)| (*at, *bytes)).collect();
        assert_eq!(places, [(0, 4), (4, 4), (8, 8), (16, 8), (24, 8)]);
        assert!(given_to(params, &["0=1", "0+4=1"]).is_err());
    }
}
