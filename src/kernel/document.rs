//! The kernel format as types. They parse it and they give its JSON Schema.

#[cfg(test)]
use std::borrow::Cow;

#[cfg(test)]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::code::CodeDoc;
use super::leaf::{Anything, DType, Formula, Number, OneOrMany, Order, Ordered, Ranges, Space};
use super::lists::{ShapeDoc, ShapeDocs, TableDoc};
use super::statements::StatementDoc;
use super::work::WorkDoc;
use crate::text::{Decode, Decoder, Named, Node, Spanned, Value, record};

record! {
    /// A GPU kernel as a code generator knows it: arrays, the addresses each thread touches, the
    /// domain, and the launches to consider.
    #[cfg_attr(test, schemars(extend("anyOf" = [{"required": ["fields", "domain"]}, {"required": ["code"]}])))]
    pub struct KernelDoc, "a kernel document" {
        /// Version of the format; 1.
        wavecast: Spanned<i64> [required: "write `wavecast: 1`, the version of the format"],
        /// Name of the kernel.
        kernel: Spanned<String> [required: "its name, for example `kernel: copy`"],
        /// One line on what it is and where it comes from.
        about: String,
        /// Named integers; each may use others. `--set NAME=VALUE` overrides.
        params: Named<Formula> {"params: {N: 1024, M: 2*N}"},
        /// Constant integer tables, indexed as `c[q][0]`.
        tables: Named<TableDoc> {"tables: {c: [[0, 1], [1, 0]]}"},
        /// The arrays.
        fields: Named<FieldDoc> {"fields: {a: {dtype: f32, shape: [N, N]}}"},
        /// The axes and their extents in work items, fastest first.
        domain: Ordered {"domain: {x: N, y: N}"},
        /// What each work item or thread loads.
        loads: Vec<AccessDoc> {"loads: [\"a[x, y]\", \"a[x + 1, y]\"]"},
        /// What each work item or thread stores.
        stores: Vec<AccessDoc> {"stores: [\"a[x, y]\"]"},
        /// Atomic operations; they are served in L2.
        atomics: Vec<AccessDoc> {"atomics: [\"a[x, y]\"]"},
        /// Instead of loads, stores and atomics where program order or loops matter.
        body: Vec<StatementDoc> {"body: [\"load a[x, y]\", sync, \"store b[x, y]\"]"},
        /// Compiled code that all of these are read from, and what a work item computes; `fields` and `domain` may be
        /// left out then.
        code: CodeDoc,
        /// A condition on coordinates under which a thread works, beyond the domain itself.
        guard: Formula,
        /// What one work item computes.
        work: WorkDoc {"work: {flops: 4}"},
        /// The launches to consider.
        launch: LaunchDoc {"launch: {block: [[32, 8], [64, 4]], registers: 32}"},
        /// Documents that are merged over this one: mappings merge, lists replace, null deletes.
        /// Each may have a `name`.
        variants: Vec<Anything>,
    }
}

record! {
    /// An array.
    pub struct FieldDoc, "a field" {
        /// Element type.
        dtype: DType,
        /// Elements along each index, halo included.
        shape: Vec<Formula> {"shape: [N, N]"},
        /// Number of elements, for arrays of one dimension or used in pointer form.
        size: Formula,
        /// Which index is fastest in memory: F (the first, default) or C (the last).
        order: Order,
        /// Elements between neighbours along each index, instead of `order`.
        strides: Vec<Formula> {"strides: [1, N]"},
        /// Elements before the first interior one, along every axis or per axis: index 0 is the
        /// first interior element.
        halo: OneOrMany<Formula>,
        /// Bytes to which the allocation's first byte is aligned; 256.
        align: Formula,
        /// Elements added to every linear address; may be negative.
        offset: Formula,
        /// Device memory (global, default), the on-chip memory of a block (shared), or that of each thread (private).
        space: Space,
        /// That many identical arrays; 1.
        multiplicity: Formula,
        /// Copy the keys of another field; keys given here win.
        like: Spanned<String>,
    }
}

record! {
    /// The launches to consider.
    pub struct LaunchDoc, "launch" {
        /// Thread blocks: a list of shapes, or a range per dimension.
        block: BlockDoc,
        /// Work items per thread along x, y, z: a list of shapes.
        fold: ShapeDocs {"fold: [[1, 1, 1], [2, 1, 1]]"},
        /// Registers of a thread.
        registers: RegistersDoc,
        /// Bytes of shared memory of a block; by default what the shared fields need.
        shared: Formula,
        /// Blocks along each dimension, only where they do not follow from domain, block and fold.
        grid: OneOrMany<Formula>,
        /// Work items of a thread, on average, only where they do not follow: a number or an expression of
        /// numbers, parameters, blockDim and gridDim in which `/` divides exactly. By default the fold, and
        /// with a grid of its own the domain over the threads.
        units_per_thread: Number,
    }
}

record! {
    /// Block shapes as ranges along the launch dimensions.
    pub struct BlockAxesDoc, "launch.block" {
        /// Threads along x; 1.
        x: Ranges,
        /// Threads along y; 1.
        y: Ranges,
        /// Threads along z; 1.
        z: Ranges,
        /// Only shapes of so many threads in all.
        threads: Ranges,
    }
}

record! {
    /// A register count and where it holds.
    pub struct RegisterDoc, "an entry of launch.registers" {
        /// Only for this fold.
        fold: ShapeDoc,
        /// Only for blocks of so many threads.
        threads: Formula,
        /// Registers of a thread.
        value: Formula [required: "an entry of `registers` is written as {fold: [2, 1, 1], value: 40}"],
    }
}

record! {
    /// Accesses that share ranges, width or condition.
    pub struct AccessGroupDoc, "an access" {
        /// Variables to unroll over; each combination is a separate instruction.
        r#for: Named<Ranges> {"for: {s: [-1, 1]}"},
        /// One or several address expressions.
        at: OneOrMany<Formula> [required: "for example `at: [\"a[x + 1, y]\"]`, and beside it `for`, \
            `when` or `width`"],
        /// Bytes touched from the element's address on; the element's size.
        width: Formula,
        /// Only where this holds.
        when: Formula,
    }
}

/// An access: an address expression, or several with what they share.
#[derive(Debug, Clone)]
pub enum AccessDoc {
    /// Just an address.
    At(Formula),
    /// With ranges, width or condition.
    Group(AccessGroupDoc),
}

impl Decode for AccessDoc {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Self> {
        match node.value {
            Value::Map(_) => AccessGroupDoc::decode(node, decoder).map(AccessDoc::Group),
            _ => Formula::decode(node, decoder).map(AccessDoc::At),
        }
    }
}

#[cfg(test)]
impl JsonSchema for AccessDoc {
    fn schema_name() -> Cow<'static, str> {
        "Access".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (at, group) = (generator.subschema_for::<Formula>(), generator.subschema_for::<AccessGroupDoc>());
        json_schema!({"anyOf": [at, group]})
    }
}

/// Block shapes.
#[derive(Debug, Clone)]
pub enum BlockDoc {
    /// A list of shapes.
    List(ShapeDocs),
    /// A range per dimension.
    Axes(BlockAxesDoc),
}

impl Decode for BlockDoc {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Self> {
        match &node.value {
            Value::Map(_) => BlockAxesDoc::decode(node, decoder).map(BlockDoc::Axes),
            _ => ShapeDocs::decode(node, decoder).map(BlockDoc::List),
        }
    }
}

#[cfg(test)]
impl JsonSchema for BlockDoc {
    fn schema_name() -> Cow<'static, str> {
        "Blocks".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (list, axes) =
            (generator.subschema_for::<ShapeDocs>(), generator.subschema_for::<BlockAxesDoc>());
        json_schema!({"anyOf": [list, axes]})
    }
}

/// Registers of a thread.
#[derive(Debug, Clone)]
pub enum RegistersDoc {
    /// The same for every launch.
    Fixed(Formula),
    /// Depending on fold and threads; the entry that says most about a launch counts.
    ByLaunch(Vec<RegisterDoc>),
}

impl Decode for RegistersDoc {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Self> {
        match node.value {
            Value::List(_) => Vec::decode(node, decoder).map(RegistersDoc::ByLaunch),
            _ => Formula::decode(node, decoder).map(RegistersDoc::Fixed),
        }
    }
}

#[cfg(test)]
impl JsonSchema for RegistersDoc {
    fn schema_name() -> Cow<'static, str> {
        "Registers".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (one, many) =
            (generator.subschema_for::<Formula>(), generator.subschema_for::<Vec<RegisterDoc>>());
        json_schema!({"anyOf": [one, many]})
    }
}

impl KernelDoc {
    /// Reports keys that it needs and does not have; `node` is what it was decoded from.
    pub(super) fn complete(&mut self, node: &Node, decoder: &mut Decoder) {
        let needed = [
            (
                "fields",
                self.fields.is_none(),
                "the arrays, for example `fields: {a: {dtype: f64, size: 4096}}`",
            ),
            (
                "domain",
                self.domain.is_none(),
                "its work items, fastest axis first, for example `domain: {x: NX, y: NY}`",
            ),
        ];
        for (key, missing, example) in needed {
            if missing
                && self.code.is_none()
                && !self.damaged.contains(&key)
                && !self.damaged.contains(&"code")
            {
                decoder.missing_key(node, "a kernel document", key, example);
                self.damaged.push(key);
            }
        }
    }
}
