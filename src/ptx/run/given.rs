//! Arguments of an entry as one writes them: `0=1048576`, `x=x:f32[1048576]`.

use super::machine::Argument;
use super::memory::Field;
use super::refusal::NotRun;
use crate::ptx::syntax::{Function, Param, Type};

/// Arguments for all parameters of an entry, and the fields that they point to. Each text is `NAME=VALUE`: the name or
/// the number of a parameter, and a number, or a field with or without type and length. A parameter that nothing is said
/// of is a pointer to a field of its own name, if it has the size of one.
pub fn given(entry: &Function, texts: &[String]) -> Result<(Vec<Argument>, Vec<Field>), NotRun> {
    let mut values: Vec<Option<&str>> = vec![None; entry.params.len()];
    for text in texts {
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        let name = name.trim();
        let number = entry.params.iter().position(|p| p.name == name).or_else(|| name.parse().ok());
        let place = number.and_then(|n| values.get_mut(n)).ok_or_else(|| unknown(entry, name))?;
        if place.replace(value.trim()).is_some() {
            return Err(NotRun::Arguments(format!("the parameter `{name}` is given twice")));
        }
    }
    let mut fields = Vec::new();
    let arguments = entry.params.iter().zip(values).map(|(param, value)| argument(param, value, &mut fields));
    let arguments = arguments.collect::<Result<_, _>>()?;
    Ok((arguments, fields))
}

fn unknown(entry: &Function, name: &str) -> NotRun {
    let names: Vec<String> = (0..).zip(&entry.params).map(|(i, p)| format!("{i} {}", p.name)).collect();
    NotRun::Arguments(format!(
        "`{}` has no parameter `{name}`; its parameters are {}",
        entry.name,
        names.join(", ")
    ))
}

fn argument(param: &Param, value: Option<&str>, fields: &mut Vec<Field>) -> Result<Argument, NotRun> {
    let text = match value {
        None | Some("") if param.bytes() == 8 && param.element.kind != 'f' => param.name.as_str(),
        None | Some("") => {
            return Err(NotRun::Arguments(format!(
                "nothing says what the parameter `{}` is: give {}=VALUE",
                param.name, param.name
            )));
        }
        Some(text) => text,
    };
    if let Ok(value) = text.parse() {
        return Ok(Argument::Integer(value));
    }
    if let Ok(value) = text.parse() {
        return Ok(Argument::Float(value));
    }
    let (name, bytes) = match text.split_once(':') {
        None => (text, None),
        Some((name, shape)) => {
            let wrong =
                || NotRun::Arguments(format!("`{text}` is no number and no field such as x:f32[1024]"));
            let (ty, count) = shape.strip_suffix(']').and_then(|s| s.split_once('[')).ok_or_else(wrong)?;
            let size = Type::named(ty.trim()).ok_or_else(wrong)?.bytes();
            let count: u64 = count.trim().parse().map_err(|_| wrong())?;
            (name, Some(count.checked_mul(size).ok_or_else(wrong)?))
        }
    };
    let name = name.trim();
    let known = fields.iter().position(|f| f.name == name);
    let field = known.unwrap_or(fields.len());
    if known.is_none() {
        fields.push(Field::new(name));
    }
    fields[field].bytes = bytes.or(fields[field].bytes);
    Ok(Argument::Pointer { field, offset: 0 })
}
