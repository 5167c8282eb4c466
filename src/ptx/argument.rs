//! Arguments of an entry as one writes them: `0=1048576`, `x=x:f32[1048576]`, `3+8=5`. Whoever reads a kernel and
//! whoever runs it make of them what they need.

use super::syntax::{Function, Param, Type};
use crate::text::nearest;

/// What a parameter of an entry gets, or a part of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Argument {
    /// The number of the parameter.
    pub parameter: usize,
    /// Of a struct: the byte at which the value stands.
    pub byte: Option<u32>,
    pub value: Given,
}

/// A value as somebody gave it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Given {
    /// Nothing: the parameter is what it is by itself.
    Nothing,
    /// A whole number; of 64 bits, with sign or without.
    Whole(i128),
    /// A fraction.
    Fraction(f64),
    /// A pointer into an array.
    Pointer(Pointer),
}

/// A pointer that somebody named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pointer {
    /// The name of the field.
    pub name: String,
    /// Bytes from the field's beginning.
    pub offset: i64,
    /// Bytes of the field, if they were said.
    pub bytes: Option<u64>,
}

/// Why a text is no argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wrong {
    pub message: String,
    pub help: String,
}

impl Wrong {
    fn new(message: String, help: &str) -> Self {
        Self { message, help: help.to_owned() }
    }
}

/// The arguments that these texts say, in their order; none is given twice.
pub(super) fn arguments(function: &Function, texts: &[String]) -> Result<Vec<Argument>, Wrong> {
    let mut all: Vec<Argument> = Vec::new();
    for text in texts {
        let argument = argument(function, text)?;
        let again = |known: &&Argument| {
            known.parameter == argument.parameter
                && (known.byte == argument.byte || known.byte.is_none() || argument.byte.is_none())
        };
        if all.iter().any(|known| again(&known)) {
            let name = &function.params[argument.parameter].name;
            let message = format!("the parameter {}, `{name}`, is given twice", argument.parameter);
            return Err(Wrong::new(message, "give each parameter once, by its name or by its number"));
        }
        all.push(argument);
    }
    Ok(all)
}

/// What a text says: `NAME=VALUE` or `NAME+BYTE=VALUE`, the name being that of a parameter or its number.
pub(super) fn argument(function: &Function, text: &str) -> Result<Argument, Wrong> {
    let Some((name, value)) = text.split_once('=') else {
        let message = format!("`{text}` is no value of a parameter");
        return Err(Wrong::new(message, "write NAME=VALUE, as in --arg 0=1048576"));
    };
    let (name, byte) = match name.split_once('+') {
        None => (name.trim(), None),
        Some((name, byte)) => match byte.trim().parse() {
            Ok(byte) => (name.trim(), Some(byte)),
            Err(_) => {
                let message = format!("`{text}` names no byte of a parameter");
                return Err(Wrong::new(message, "write NAME+BYTE=VALUE, as in --arg 3+8=5"));
            }
        },
    };
    let parameter = parameter(function, name)?;
    let value = given(&function.params[parameter], byte, value.trim())?;
    Ok(Argument { parameter, byte, value })
}

fn parameter(function: &Function, name: &str) -> Result<usize, Wrong> {
    if let Some(at) = function.params.iter().position(|p| p.name == name) {
        return Ok(at);
    }
    if let Ok(number) = name.parse::<usize>()
        && number < function.params.len()
    {
        return Ok(number);
    }
    let names = || function.params.iter().map(|p| p.name.as_str());
    let all: Vec<String> = names().enumerate().map(|(i, name)| format!("{i} {name}")).collect();
    let close = nearest(name, names()).map_or(String::new(), |n| format!("did you mean `{n}`? "));
    Err(Wrong {
        message: format!("entry `{}` has no parameter `{name}`", function.name),
        help: format!(
            "{close}it has: {} (PTX rarely keeps the names of the source; numbers do)",
            all.join(", ")
        ),
    })
}

fn given(param: &Param, byte: Option<u32>, text: &str) -> Result<Given, Wrong> {
    if text.is_empty() {
        return Ok(Given::Nothing);
    }
    if let Some(number) = whole(text) {
        // Of a part of a struct nobody knows the type.
        let alone = byte.is_none() && param.count.is_none() && param.element.kind != 'f';
        let bits = if alone { param.element.bits.min(64) } else { 64 };
        if number < -(1_i128 << (bits - 1)) || number >= 1_i128 << bits {
            let kind = param.element.kind;
            let message = format!("{text} does not fit into the parameter `{}` of {bits} bits", param.name);
            let help =
                format!("its type is {kind}{bits}: give a number from -2^{} to 2^{bits} - 1", bits - 1);
            return Err(Wrong { message, help });
        }
        return Ok(Given::Whole(number));
    }
    if let Ok(fraction) = text.parse() {
        return Ok(Given::Fraction(fraction));
    }
    let pointer = pointer(text).ok_or_else(|| {
        let message = format!("`{text}` is no value of the parameter `{}`", param.name);
        Wrong::new(message, "give a number, or for a pointer the name of its field: x, x:f32[1024]")
    })?;
    if byte.is_none() && param.count.is_none() && param.bytes() != 8 {
        let message = format!(
            "`{text}` is no number, but the parameter `{}` of {} bytes is no pointer",
            param.name,
            param.bytes()
        );
        return Err(Wrong::new(message, "give it a number"));
    }
    Ok(Given::Pointer(pointer))
}

/// A whole number, also in base 16.
fn whole(text: &str) -> Option<i128> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let value = match digits.strip_prefix("0x") {
        Some(hex) => u128::from_str_radix(hex, 16).ok().filter(|_| !hex.starts_with('+'))?,
        None => digits.parse::<u128>().ok().filter(|_| digits.starts_with(|c: char| c.is_ascii_digit()))?,
    };
    let value = i128::try_from(value).ok()?;
    Some(if negative { -value } else { value })
}

/// `x:f32[1024]`, `x`, or `x+8:f32[1024]` for a pointer 8 bytes behind the beginning of x.
fn pointer(text: &str) -> Option<Pointer> {
    let (name, shape) = text.split_once(':').map_or((text, None), |(name, shape)| (name, Some(shape)));
    let (name, offset) = match name.split_once('+') {
        Some((name, offset)) => (name, offset.trim().parse().ok()?),
        None => (name, 0),
    };
    let bytes = match shape {
        Some(shape) => {
            let (element, count) = shape.trim().strip_suffix(']')?.split_once('[')?;
            // Documents write `i32` for what PTX calls `s32`.
            let element = element.trim();
            let signed = element.strip_prefix('i').map(|bits| format!("s{bits}"));
            let element = Type::named(signed.as_deref().unwrap_or(element))?.bytes();
            Some(count.trim().parse::<u64>().ok()?.checked_mul(element)?)
        }
        None => None,
    };
    let name = name.trim();
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    (plain && starts).then(|| Pointer { name: name.to_owned(), offset, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::syntax::parse;

    fn told(texts: &[&str]) -> Result<Vec<Given>, String> {
        let params = ".param .u32 n, .param .f32 a, .param .u64 x, .param .u16 h, .param .align 8 .b8 s[32]";
        let text =
            format!(".version 8.0 .target sm_80 .address_size 64 .visible .entry k({params}) {{ ret; }}");
        let module = parse(&text, Default::default()).unwrap();
        let texts: Vec<String> = texts.iter().map(|t| (*t).to_owned()).collect();
        let all = arguments(module.entries().next().unwrap(), &texts).map_err(|e| e.message)?;
        Ok(all.into_iter().map(|a| a.value).collect())
    }

    #[test]
    fn numbers_fit_into_their_parameters() {
        assert_eq!(
            told(&["n=-5", "2=0xffffffffffffffff"]).unwrap(),
            [Given::Whole(-5), Given::Whole(u64::MAX.into())]
        );
        assert_eq!(told(&["n=4294967295", "h=-32768", "1=2.5"]).unwrap()[1], Given::Whole(-32768));
        for wrong in
            ["n=4294967296", "n=-2147483649", "h=65536", "2=0x10000000000000000", "4+8=18446744073709551616"]
        {
            let message = told(&[wrong]).unwrap_err();
            assert!(message.contains("does not fit"), "{wrong}: {message}");
        }
        // Whatever a float gets is a number.
        assert_eq!(told(&["a=3"]).unwrap(), [Given::Whole(3)]);
    }

    #[test]
    fn pointers_have_fields() {
        let field = |offset, bytes| Given::Pointer(Pointer { name: "y".to_owned(), offset, bytes });
        assert_eq!(told(&["2=y+8:f32[10]"]).unwrap(), [field(8, Some(40))]);
        assert_eq!(told(&["x=y:i32[10]"]), told(&["x=y:s32[10]"]));
        assert_eq!(told(&["4+8=y:u8[3]"]).unwrap(), [field(0, Some(3))]);
        assert!(told(&["n=y"]).unwrap_err().contains("no pointer"));
        assert!(told(&["2=y:q32[10]"]).unwrap_err().contains("no value"));
        assert!(told(&["2=a b"]).unwrap_err().contains("no value"));
        assert!(told(&["n=0x"]).is_err() && told(&["n=-0x-1"]).is_err());
    }

    #[test]
    fn each_is_given_once_and_exists() {
        assert!(told(&["n=1", "0=1"]).unwrap_err().contains("given twice"));
        assert!(told(&["4=1", "4+4=1"]).unwrap_err().contains("given twice"));
        assert!(told(&["4+0=1", "4+4=1"]).is_ok());
        assert!(told(&["m=1"]).unwrap_err().contains("no parameter `m`"));
        assert!(told(&["5=1"]).unwrap_err().contains("no parameter `5`"));
        assert!(told(&["n"]).unwrap_err().contains("no value of a parameter"));
        assert!(told(&["4+a=1"]).unwrap_err().contains("no byte"));
        assert_eq!(told(&["n="]).unwrap(), [Given::Nothing]);
    }
}
