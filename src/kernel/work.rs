//! What a work item computes, as it is written, and what a thread issues for it.

#[cfg(test)]
use std::borrow::Cow;

#[cfg(test)]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use super::leaf::{Number, Precision};
use crate::quantity::{PerItem, Times};
use crate::text::{Decode, Decoder, Diagnostic, Node, Span, nearest, record, shorten};

/// Declares the classes once: their words, and what stands in the schema about each.
macro_rules! classes {
    ($( $class:ident = $word:literal, $what:literal; )*) => {
        /// A class of instructions: those that wait for the same unit of a processor.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        #[non_exhaustive]
        pub enum InstructionClass {
            $( #[doc = $what] #[serde(rename = $word)] $class ),*
        }

        impl InstructionClass {
            /// All classes, in the order in which they are listed.
            pub const ALL: &'static [Self] = &[$( Self::$class ),*];

            /// How it is written.
            pub fn word(self) -> &'static str {
                match self { $( Self::$class => $word ),* }
            }

            /// What belongs to it, for the schema.
            #[cfg(test)]
            fn what(self) -> &'static str {
                match self { $( Self::$class => $what.trim_ascii() ),* }
            }
        }
    };
}

classes! {
    Fp64 = "fp64", " Additions, multiplications and fused ones in double precision.";
    Fp32 = "fp32", " The same in single precision.";
    Fp16 = "fp16", " The same in half precision; what works on two halves at once counts once.";
    Tensor = "tensor", " Products of small matrices.";
    Int = "int", " Arithmetic, comparisons and moves of integers and addresses.";
    Special = "special", " Reciprocals, roots, sines, logarithms and the like.";
    Convert = "convert", " Conversions between types of numbers.";
    Control = "control", " Branches, barriers and votes.";
    Shared = "shared", " Loads, stores and atomics of shared memory.";
    Global = "global", " Loads, stores and atomics of global memory.";
    Local = "local", " Loads and stores of local memory: spilled registers, arrays that are indexed at run time.";
}

/// How many classes there are.
const CLASSES: usize = InstructionClass::ALL.len();

/// Instructions that a thread issues for each work item, by class, as far as the document says: what it leaves out is
/// not known, which is not the same as none.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Instructions {
    counts: [Option<f64>; CLASSES],
}

impl Instructions {
    /// So many of a class; nothing if one is given twice, or is no number of at least 0.
    pub fn new(given: impl IntoIterator<Item = (InstructionClass, f64)>) -> Option<Self> {
        let mut out = Self::default();
        for (class, count) in given {
            let place = &mut out.counts[class as usize];
            if place.is_some() || !count.is_finite() || count < 0.0 {
                return None;
            }
            *place = Some(count);
        }
        Some(out)
    }

    /// How many of a class, if the document says.
    pub fn count(&self, class: InstructionClass) -> Option<Times<PerItem>> {
        self.counts[class as usize].map(Times::new)
    }

    /// The classes that the document gives, with their counts.
    pub fn given(&self) -> impl Iterator<Item = (InstructionClass, Times<PerItem>)> + '_ {
        InstructionClass::ALL.iter().filter_map(|&class| Some((class, self.count(class)?)))
    }

    /// Whether the document says nothing of them.
    pub fn is_empty(&self) -> bool {
        self.given().next().is_none()
    }
}

record! {
    /// What one work item computes.
    pub struct WorkDoc, "work" {
        /// What a work item is called; LUP (lattice update).
        unit: String,
        /// Floating-point operations of a work item.
        flops: Number,
        /// Precision of these operations; that of the widest floating-point field that is accessed.
        precision: Precision,
        /// Instructions that a thread issues for each work item, by class.
        instructions: InstructionsDoc,
        /// Instructions that stand in the code of a thread, those of loops once; estimated from its accesses and
        /// operations if left out.
        code_length: Number,
    }
}

/// `work.instructions` as it is written: counts by class, and where each stands.
#[derive(Debug, Clone, Default)]
pub struct InstructionsDoc(pub Vec<(InstructionClass, Number, Span)>);

impl Decode for InstructionsDoc {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Self> {
        let map = decoder.mapping(node, "classes of instructions and their counts")?;
        let mut counts = Vec::new();
        for entry in map {
            let Some(&class) = InstructionClass::ALL.iter().find(|class| entry.key == class.word()) else {
                decoder.report(unknown(entry.key.as_str(), entry.key_span));
                continue;
            };
            // A null is what a generator writes for a key it has nothing to say about.
            if entry.value.is_null() {
                continue;
            }
            // What cannot be read was reported; the others are looked at all the same.
            let count = Number::decode(&entry.value, decoder);
            counts.extend(count.map(|count| (class, count, entry.value.span)));
        }
        Some(Self(counts))
    }
}

fn unknown(word: &str, span: Span) -> Diagnostic {
    let words = || InstructionClass::ALL.iter().map(|class| class.word());
    let near = nearest(word, words()).map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
    let known = words().collect::<Vec<_>>().join(", ");
    let message = format!("`{}` is not a class of instructions", shorten(word));
    Diagnostic::error("unknown-key", span, message).help(format!("{near}known: {known}"))
}

#[cfg(test)]
impl JsonSchema for InstructionsDoc {
    fn schema_name() -> Cow<'static, str> {
        "Instructions".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut properties = serde_json::Map::new();
        for class in InstructionClass::ALL {
            let mut count = generator.subschema_for::<Option<Number>>();
            count.insert("description".into(), class.what().into());
            properties.insert(class.word().into(), count.into());
        }
        json_schema!({
            "description": "Instructions that a thread issues for each work item, by class; what is left out is estimated.",
            "type": "object",
            "properties": properties,
            "additionalProperties": false
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{InstructionClass, Instructions, Times};
    use crate::kernel::{Options, load};

    fn read(work: &str) -> Instructions {
        let text = format!(
            "wavecast: 1\nkernel: k\nparams: {{K: 6, M: 2*K}}\ntables: {{t: [3, 7]}}\nfields: {{a: {{dtype: f64, size: 64}}}}\n\
             domain: {{x: 64}}\nstores: ['a[x]']\nwork: {work}\nlaunch: {{block: [[64]], registers: 8}}\n"
        );
        load("k", &text, &Options { set: vec!["K=10".to_owned()], ..Options::default() }).unwrap().kernels[0]
            .work
            .instructions
    }

    #[test]
    fn counts_are_numbers_or_expressions_as_flops_are() {
        let counts = read(
            "{unit: thread, instructions: {int: 'M + t[1]', fp32: 1.25, convert: K/3, tensor: ~, control: 0}}",
        );
        let expected = [("fp32", 1.25), ("int", 27.0), ("convert", 3.0), ("control", 0.0)];
        let found: Vec<_> = counts.given().map(|(class, count)| (class.word(), count.get())).collect();
        assert_eq!(found, expected);
        assert!(read("{flops: 1}").is_empty() && read("{flops: 1, instructions: ~}").is_empty());
        assert!(read("{instructions: {}}").is_empty());
    }

    #[test]
    fn a_class_that_is_not_given_is_not_zero() {
        let given = Instructions::new([(InstructionClass::Int, 0.0), (InstructionClass::Fp64, 2.5)]).unwrap();
        assert_eq!(given.count(InstructionClass::Int).map(Times::get), Some(0.0));
        assert_eq!(given.count(InstructionClass::Shared), None);
        let order: Vec<_> = given.given().map(|(class, count)| (class.word(), count.get())).collect();
        assert_eq!(order, [("fp64", 2.5), ("int", 0.0)]);
        assert!(!given.is_empty() && Instructions::default().is_empty());
    }

    #[test]
    fn counts_that_cannot_be_are_refused() {
        for wrong in [-1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(Instructions::new([(InstructionClass::Int, wrong)]), None, "{wrong}");
        }
        assert_eq!(Instructions::new([(InstructionClass::Int, 1.0); 2]), None);
    }
}
