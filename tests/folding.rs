//! Every thread of a launch touches exactly what its work items touch, each evaluated by itself from
//! the text of the kernel, without lowering, folding or merging; and the loads that are merged are
//! exactly those that a thread would do twice with nothing between them that could change the value.

mod oracle;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;
use std::rc::Rc;

use oracle::{E, P, Values, conditions, forms};
use proptest::prelude::*;
use wavecast::kernel::{AccessKind, Kernel, load};
use wavecast::launch::{Candidate, Launch, Program, Step, visit_thread};

const AXES: [&str; 3] = ["x", "y", "z"];
const TABLE: [i64; 8] = [3, -1, 4, -1, 5, -9, 2, 6];

/// An address as it is written.
#[derive(Debug, Clone)]
enum Address {
    /// `field + e`.
    Pointer(&'static str, E),
    /// `c[e, e]`; c has 40 x 30 elements, a halo of 2 and 1, and its second index is fastest.
    Array(E, E),
}

#[derive(Debug, Clone)]
struct Access {
    kind: AccessKind,
    address: Address,
    when: Option<P>,
    width: i64,
}

#[derive(Debug, Clone)]
enum Statement {
    Access(Access),
    Sync,
    /// `k` from a number or `tidx` on.
    Loop {
        from_thread: bool,
        from: i64,
        to: i64,
        step: i64,
        body: Vec<Access>,
    },
}

#[derive(Debug, Clone)]
struct Document {
    extents: Vec<i64>,
    guard: Option<P>,
    body: Vec<Statement>,
    fold: [i64; 3],
    block: [i64; 3],
    /// Blocks along each dimension, where they do not follow.
    grid: Option<[i64; 3]>,
}

impl Address {
    fn field(&self) -> &'static str {
        match self {
            Address::Pointer(field, _) => field,
            Address::Array(..) => "c",
        }
    }

    fn mentions(&self, test: &dyn Fn(&str) -> bool) -> bool {
        match self {
            Address::Pointer(_, e) => e.mentions(test),
            Address::Array(a, b) => a.mentions(test) || b.mentions(test),
        }
    }

    fn value(&self, of: &Values) -> i64 {
        let element = match self {
            Address::Pointer(_, e) => e.value(of).unwrap(),
            Address::Array(a, b) => (a.value(of).unwrap() + 2) * 30 + (b.value(of).unwrap() + 1),
        };
        i64::try_from(element).unwrap()
    }
}

impl Access {
    /// Whether it is done for work items, or once by a thread.
    fn by_item(&self) -> bool {
        let axis = |name: &str| AXES.contains(&name);
        self.address.mentions(&axis) || self.when.as_ref().is_some_and(|w| w.mentions(&axis))
    }

    fn holds(&self, of: &Values) -> bool {
        self.when.as_ref().is_none_or(|w| w.value(of).unwrap())
    }

    fn write(&self, out: &mut String, indent: usize) {
        let address = match &self.address {
            Address::Pointer(field, e) => format!("{field} + {e}"),
            Address::Array(a, b) => format!("c[{a}, {b}]"),
        };
        let when = self.when.as_ref().map(|w| format!(", when: \"{w}\"")).unwrap_or_default();
        let _ = writeln!(
            out,
            "{:indent$}- {{at: \"{} {address}\", width: {}{when}}}",
            "",
            self.kind.verb(),
            self.width
        );
    }
}

impl Document {
    fn text(&self) -> String {
        let mut out = String::from(
            "wavecast: 1\nkernel: random\nparams: {N: 100, M: -7}\ntables: {t: [[3, -1], [4, -1], [5, -9], [2, 6]], d: [5, 3, 1, 0, 2, 4, 6]}\n\
             fields:\n  a: {dtype: f64, size: 10000}\n  b: {dtype: f32, size: 10000}\n  c: {dtype: f32, shape: [40, 30], halo: [2, 1], order: C}\n",
        );
        let axes: Vec<String> = AXES.iter().zip(&self.extents).map(|(a, n)| format!("{a}: {n}")).collect();
        let _ = writeln!(out, "domain: {{{}}}", axes.join(", "));
        if let Some(guard) = &self.guard {
            let _ = writeln!(out, "guard: \"{guard}\"");
        }
        let _ = writeln!(out, "body:");
        for statement in &self.body {
            match statement {
                Statement::Access(access) => access.write(&mut out, 2),
                Statement::Sync => out.push_str("  - sync\n"),
                Statement::Loop { from_thread, from, to, step, body } => {
                    let from = if *from_thread { format!("tidx % 4 + {from}") } else { from.to_string() };
                    let _ = writeln!(
                        out,
                        "  - loop: {{k: {{from: \"{from}\", to: {to}, step: {step}}}}}\n    body:"
                    );
                    body.iter().for_each(|access| access.write(&mut out, 6));
                }
            }
        }
        let grid = self.grid.map(|g| format!(", grid: {g:?}")).unwrap_or_default();
        let _ = writeln!(out, "launch: {{block: [{:?}], fold: [{:?}]{grid}}}", self.block, self.fold);
        out
    }
}

// --- what each thread should do ---

/// What is done to which field where, and how wide.
type Touch = (AccessKind, &'static str, i64, i64);

/// A work item of a thread.
struct Item {
    of: Values,
    /// The guard holds.
    guarded: bool,
    /// And it lies inside the domain.
    inside: bool,
}

/// A thread of a launch.
struct Thread<'d> {
    document: &'d Document,
    launch: &'d Launch,
    tables: Rc<HashMap<&'static str, oracle::Table>>,
    block: [i64; 3],
    thread: [i64; 3],
}

fn tables() -> Rc<HashMap<&'static str, oracle::Table>> {
    let d = (vec![7], vec![5, 3, 1, 0, 2, 4, 6]);
    Rc::new(HashMap::from([("t", (vec![4, 2], TABLE.to_vec())), ("d", d)]))
}

impl Thread<'_> {
    /// The place of the thread in the grid.
    fn global(&self, d: usize) -> i64 {
        self.block[d] * self.launch.sizes.block[d] + self.thread[d]
    }

    fn values(&self, item: [i64; 3]) -> Values {
        let mut names = HashMap::from([("N", 100), ("M", -7), ("k", 0)]);
        let spelt = [
            ["x", "tidx", "threadIdx.x", "blockIdx.x", "blockDim.x", "gridDim.x"],
            ["y", "tidy", "threadIdx.y", "blockIdx.y", "blockDim.y", "gridDim.y"],
            ["z", "tidz", "threadIdx.z", "blockIdx.z", "blockDim.z", "gridDim.z"],
        ];
        let sizes = &self.launch.sizes;
        for (d, spelt) in spelt.into_iter().enumerate() {
            let values =
                [item[d], self.global(d), self.thread[d], self.block[d], sizes.block[d], sizes.grid[d]];
            names.extend(spelt.into_iter().zip(values.map(i128::from)));
        }
        Values { names, tables: self.tables.clone() }
    }

    fn items(&self) -> Vec<Item> {
        let fold = self.document.fold;
        let mut items = Vec::new();
        for z in 0..fold[2] {
            for y in 0..fold[1] {
                for x in 0..fold[0] {
                    let item = [0, 1, 2].map(|d| self.global(d) * fold[d] + [x, y, z][d]);
                    let extent = |d: usize| self.document.extents.get(d).copied().unwrap_or(1);
                    let within = (0..3).all(|d| item[d] < extent(d));
                    let of = self.values(item);
                    // Only with a grid of its own does anything happen outside the domain.
                    let asked = within || self.document.grid.is_some();
                    let guard = |g: &P| g.value(&of).unwrap();
                    let guarded = asked && self.document.guard.as_ref().is_none_or(guard);
                    items.push(Item { of, guarded, inside: guarded && within });
                }
            }
        }
        items
    }

    /// Every access in order, with the number of its statement.
    fn run(&self) -> Vec<(usize, Touch)> {
        let mut items = self.items();
        let mut done = Vec::new();
        for (number, statement) in self.document.body.iter().enumerate() {
            match statement {
                Statement::Sync => {}
                Statement::Access(access) => self.access(number, access, &items, &mut done),
                Statement::Loop { from_thread, from, to, step, body } => {
                    let mut k = from + if *from_thread { self.global(0) % 4 } else { 0 };
                    while if *step > 0 { k <= *to } else { k >= *to } {
                        items.iter_mut().for_each(|i| drop(i.of.names.insert("k", i128::from(k))));
                        body.iter().for_each(|access| self.access(number, access, &items, &mut done));
                        k += step;
                    }
                }
            }
        }
        done
    }

    fn access(&self, number: usize, access: &Access, items: &[Item], done: &mut Vec<(usize, Touch)>) {
        let touch =
            |of: &Values| (access.kind, access.address.field(), access.address.value(of), access.width);
        let own_grid = self.document.grid.is_some();
        if access.by_item() {
            let working = items.iter().filter(|i| i.inside && access.holds(&i.of));
            done.extend(working.map(|i| (number, touch(&i.of))));
        } else if items.iter().any(|i| if own_grid { i.guarded } else { i.inside })
            && access.holds(&items[0].of)
        {
            // All items of the thread agree on what is no work item.
            done.push((number, touch(&items[0].of)));
        }
    }
}

// --- random kernels ---

fn names(axes: usize, own_grid: bool, in_loop: bool) -> oracle::Names {
    let mut coordinates = vec!["tidx", "threadIdx.x", "blockIdx.x", "tidy", "threadIdx.z"];
    // Mostly work items.
    (0..4).for_each(|_| coordinates.extend(&AXES[..axes]));
    if in_loop {
        coordinates.extend(["k"; 4]);
    }
    let mut tables = vec![("t", vec![4, 2])];
    if !own_grid {
        tables.push(("d", vec![7]));
    }
    oracle::Names {
        coordinates,
        sizes: vec!["blockDim.x", "blockDim.y", "gridDim.x"],
        numbers: vec!["N", "M"],
        tables,
    }
}

/// Sums of coordinates with small factors: what makes equal addresses likely.
fn affine(axes: usize) -> BoxedStrategy<E> {
    let multiple = |name: &'static str, factor: i64| {
        E::Binary(oracle::Op::Mul, Box::new(E::Name(name)), Box::new(E::Int(factor)))
    };
    (proptest::collection::vec(0_i64..3, axes), -2_i64..3)
        .prop_map(move |(factors, shift)| {
            AXES.into_iter().zip(factors).fold(E::Int(shift), |sum, (axis, factor)| {
                E::Binary(oracle::Op::Add, Box::new(sum), Box::new(multiple(axis, factor)))
            })
        })
        .boxed()
}

/// An entry of a table that is as long as the domain, by the plain axis: there is none outside.
fn entry() -> BoxedStrategy<E> {
    Just(E::Entry("d", vec![E::Name("x")])).boxed()
}

fn numbers(axes: usize, own_grid: bool, in_loop: bool) -> BoxedStrategy<E> {
    let names = names(axes, own_grid, in_loop);
    let entry = if own_grid { affine(axes) } else { entry() };
    prop_oneof![4 => affine(axes), 3 => forms(&names, 2), 1 => entry].boxed()
}

fn accesses(axes: usize, own_grid: bool, in_loop: bool) -> BoxedStrategy<Access> {
    let number = numbers(axes, own_grid, in_loop);
    let number = || number.clone();
    let pointer = (proptest::sample::select(vec!["a", "b"]), number());
    let address = prop_oneof![
        3 => pointer.prop_map(|(field, e)| Address::Pointer(field, e)),
        1 => (number(), number()).prop_map(|(a, b)| Address::Array(a, b)),
    ];
    let kind =
        prop_oneof![6 => Just(AccessKind::Load), 2 => Just(AccessKind::Store), 1 => Just(AccessKind::Atomic)];
    let when = proptest::option::weighted(0.2, conditions(&names(axes, own_grid, in_loop), 1));
    let width = prop_oneof![4 => Just(8_i64), 1 => Just(16_i64)];
    (kind, address, when, width)
        .prop_map(|(kind, address, when, width)| Access { kind, address, when, width })
        .boxed()
}

fn statements(axes: usize, own_grid: bool) -> BoxedStrategy<Statement> {
    let step = prop_oneof![1_i64..4, -3_i64..0];
    let inner = proptest::collection::vec(accesses(axes, own_grid, true), 1..4);
    let repeat = (any::<bool>(), -2_i64..4, -3_i64..6, step, inner);
    prop_oneof![
        10 => accesses(axes, own_grid, false).prop_map(Statement::Access),
        1 => Just(Statement::Sync),
        1 => repeat.prop_map(|(from_thread, from, to, step, body)| {
            Statement::Loop { from_thread, from, to, step, body }
        }),
    ]
    .boxed()
}

fn documents() -> impl Strategy<Value = Document> {
    (1_usize..4, any::<bool>()).prop_flat_map(|(axes, own_grid)| {
        let most = [7_i64, 7, 4, 3][axes];
        let extents = proptest::collection::vec(1..=most, axes);
        // A table has an entry for each x of the domain.
        let guard = proptest::option::weighted(0.3, conditions(&names(axes, own_grid, false), 1));
        let body = proptest::collection::vec(statements(axes, own_grid), 1..7);
        let shape = move |most: [i64; 3]| {
            [1..=most[0], 1..=most[1], 1..=most[2]]
                .prop_map(move |shape| [0, 1, 2].map(|d| if d < axes { shape[d] } else { 1 }))
        };
        let grid = [1_i64..4, 1_i64..3, 1_i64..3];
        let grid = grid.prop_map(move |grid| own_grid.then_some(grid));
        (extents, guard, body, shape([4, 3, 2]), shape([4, 2, 2]), grid).prop_map(
            |(extents, guard, body, fold, block, grid)| Document { extents, guard, body, fold, block, grid },
        )
    })
}

/// The loads that a field's values stay the same for: a number that grows with the first load after
/// each store to the field or barrier.
#[derive(Default)]
struct Segments(BTreeMap<&'static str, (usize, bool)>);

impl Segments {
    fn changed(&mut self, field: &'static str) {
        self.0.entry(field).or_default().1 = true;
    }

    fn barrier(&mut self) {
        ["a", "b", "c"].into_iter().for_each(|field| self.changed(field));
    }

    fn of_load(&mut self, field: &'static str) -> usize {
        let segment = self.0.entry(field).or_default();
        if std::mem::take(&mut segment.1) {
            segment.0 += 1;
        }
        segment.0
    }
}

fn field_name(kernel: &Kernel, id: wavecast::kernel::FieldId) -> &'static str {
    ["a", "b", "c"].into_iter().find(|n| *n == kernel.field(id).name).unwrap()
}

proptest! {
    #![proptest_config(oracle::cases(4_000))]

    #[test]
    fn threads_do_what_their_work_items_do(document in documents()) {
        check(&document)?;
    }
}

fn check(document: &Document) -> Result<(), TestCaseError> {
    let text = document.text();
    let (kernel, sources) = match load("random.yaml", &text, &Default::default()) {
        Ok(loaded) => (loaded.kernels.into_iter().next().unwrap(), loaded.sources),
        // Nothing but conditions that never hold.
        Err(f) if f.diagnostics.iter().all(|d| d.code == "no-accesses") => return Ok(()),
        Err(f) => return Err(TestCaseError::fail(format!("{f}\n{text}"))),
    };
    let candidate = Candidate { block: document.block, fold: document.fold };
    let launch = Launch::new(&kernel, candidate).unwrap();
    let symbolic = Program::of(&kernel, candidate).unwrap();
    let program = symbolic.at(&launch).unwrap();
    let loops = document.body.iter().any(|s| matches!(s, Statement::Loop { .. }));
    if !loops {
        no_load_is_left_twice(&kernel, &symbolic, &text)?;
    }
    // An access whose condition never holds is left out, and keeps no loads apart.
    let line = |s: &wavecast::kernel::Statement| match s {
        wavecast::kernel::Statement::Access(a) => sources.locate(a.span).map(|l| l.line),
        _ => None,
    };
    let present: BTreeSet<usize> = kernel.body.iter().filter_map(line).collect();
    let all = |n: [i64; 3]| {
        (0..n.iter().product::<i64>()).map(move |i| [i % n[0], i / n[0] % n[1], i / n[0] / n[1]])
    };
    let tables = tables();
    for block in all(launch.sizes.grid) {
        for place in all(launch.sizes.block) {
            let thread = Thread { document, launch: &launch, tables: tables.clone(), block, thread: place };
            let expected = thread.run();
            let mut visited = Vec::new();
            let ran = visit_thread(
                &program,
                kernel.extents(),
                launch.sizes.block,
                block,
                place,
                100_000,
                &mut |t| {
                    let field = field_name(&kernel, t.instruction.field);
                    visited.push((t.position, (t.instruction.kind, field, t.element, t.instruction.width)));
                },
            );
            prop_assert!(ran.is_ok(), "{:?} block {:?} thread {:?}\n{}", ran, block, place, text);
            let set = |list: &[(usize, Touch)]| list.iter().map(|t| t.1).collect::<BTreeSet<_>>();
            prop_assert_eq!(set(&visited), set(&expected), "block {:?} thread {:?}\n{}", block, place, &text);
            prop_assert!(visited.len() <= expected.len(), "more than before folding\n{}", text);
            if !loops {
                let visited = by_segment(&kernel, &program, &visited);
                let expected = of_text(document, &present, &expected);
                prop_assert_eq!(visited, expected, "block {:?} thread {:?}\n{}", block, place, &text);
            }
        }
    }
    Ok(())
}

/// The loads of each segment of each field.
type Loaded = BTreeSet<(&'static str, usize, i64, i64)>;

fn by_segment(kernel: &Kernel, program: &Program<i64>, visited: &[(usize, Touch)]) -> Loaded {
    let segments = segments(kernel, program);
    let loads = visited.iter().filter(|(_, t)| t.0 == AccessKind::Load);
    loads.map(|(position, t)| (t.1, segments[*position], t.2, t.3)).collect()
}

/// The segment of each instruction that loads.
fn segments<C: wavecast::expr::Coefficient>(kernel: &Kernel, program: &Program<C>) -> Vec<usize> {
    let mut segments = Segments::default();
    let mut of = vec![0; program.instructions.len()];
    for step in &program.steps {
        match step {
            Step::Sync => segments.barrier(),
            Step::Access(position) => {
                let instruction = &program.instructions[*position];
                let field = field_name(kernel, instruction.field);
                match instruction.kind {
                    AccessKind::Load => of[*position] = segments.of_load(field),
                    AccessKind::Store | AccessKind::Atomic => segments.changed(field),
                }
            }
            Step::Loop(..) => unreachable!("there are no loops"),
        }
    }
    of
}

/// The same from the text; `present` are the lines of the accesses that were understood.
fn of_text(document: &Document, present: &BTreeSet<usize>, done: &[(usize, Touch)]) -> Loaded {
    let first = document.text().lines().position(|l| l == "body:").unwrap() + 2;
    let mut segments = Segments::default();
    let mut of = vec![0; document.body.len()];
    for (number, statement) in document.body.iter().enumerate() {
        match statement {
            Statement::Sync => segments.barrier(),
            Statement::Access(_) if !present.contains(&(first + number)) => {}
            Statement::Access(a) if a.kind == AccessKind::Load => {
                of[number] = segments.of_load(a.address.field());
            }
            Statement::Access(a) => segments.changed(a.address.field()),
            Statement::Loop { .. } => unreachable!("there are no loops"),
        }
    }
    let loads = done.iter().filter(|(_, t)| t.0 == AccessKind::Load);
    loads.map(|(number, t)| (t.1, of[*number], t.2, t.3)).collect()
}

/// No two loads of a segment have the same address, width and condition.
fn no_load_is_left_twice<C: wavecast::expr::Coefficient>(
    kernel: &Kernel,
    program: &Program<C>,
    text: &str,
) -> Result<(), TestCaseError> {
    let segments = segments(kernel, program);
    let loads: Vec<usize> = (0..program.instructions.len())
        .filter(|&i| program.instructions[i].kind == AccessKind::Load)
        .collect();
    for (n, &i) in loads.iter().enumerate() {
        for &j in &loads[..n] {
            let (a, b) = (&program.instructions[i], &program.instructions[j]);
            let same = a.field == b.field && a.element == b.element && a.width == b.width && a.when == b.when;
            prop_assert!(!same || segments[i] != segments[j], "{:?} twice\n{}", a, text);
        }
    }
    Ok(())
}

#[test]
fn a_store_or_a_barrier_keeps_loads_apart() {
    let program = |between: &str| {
        let text = format!(
            "wavecast: 1\nkernel: k\nfields: {{a: {{dtype: f64, size: 64}}, b: {{like: a}}}}\ndomain: {{x: 8}}\n\
             body: [\"load a[x]\", {between}, \"load a[x]\", \"store b[x]\"]\n"
        );
        let loaded = load("k", &text, &Default::default()).unwrap();
        let program = Program::folded(&loaded.kernels[0], [1; 3]).unwrap();
        program.instructions.iter().filter(|i| i.kind == AccessKind::Load).count()
    };
    assert_eq!(program("\"load b[x]\""), 2, "merged: nothing between changes a");
    assert_eq!(program("\"store b[x]\""), 1);
    assert_eq!(program("\"store a[x + 1]\""), 2, "it may be the same address");
    assert_eq!(program("\"atomic a[0]\""), 2);
    assert_eq!(program("sync"), 2);
    assert_eq!(program("{loop: {k: 0..3}, body: [\"load a[x]\"]}"), 1, "still in a register in the loop");
    assert_eq!(program("{loop: {k: 0..3}, body: [\"load a[x]\", \"store a[k]\"]}"), 3);
}

#[test]
fn a_load_before_a_loop_is_not_done_for_what_only_the_loop_needs() {
    let text = "wavecast: 1\nkernel: k\nfields: {a: {dtype: f64, size: 64}}\ndomain: {x: 1}\n\
                body: [\"load a[x]\", {loop: {k: 2..0}, body: [\"load a[x + 1]\"]}]\n\
                launch: {block: [[1]], fold: [[2]]}\n";
    assert_eq!(elements(text, [0; 3]), [0], "the only work item reads a[0], and the loop never runs");
}

#[test]
fn a_thread_outside_the_domain_does_what_is_written_for_threads() {
    let text = |loads: &str| {
        format!(
            "wavecast: 1\nkernel: k\nfields: {{a: {{dtype: f64, size: 64}}}}\ndomain: {{x: 1}}\n\
             loads: [{loads}]\nlaunch: {{block: [[1]], grid: [2]}}\n"
        )
    };
    // The two loads are equal and merged; the second is for all threads of the grid.
    assert_eq!(elements(&text("\"a[x]\", \"a[tidx]\""), [1, 0, 0]), [1]);
    assert_eq!(elements(&text("\"a[tidx]\", \"a[x]\""), [1, 0, 0]), [1]);
    assert_eq!(elements(&text("\"a[x]\""), [1, 0, 0]), [0; 0]);
}

#[test]
fn a_thread_outside_the_domain_asks_for_no_table_entry() {
    let text = "wavecast: 1\nkernel: k\ntables: {t: [1, 0, 1]}\nfields: {a: {dtype: f64, size: 64}}\n\
                domain: {x: 3}\nguard: t[x] == 1\nbody: [{loop: {k: {from: 0, to: \"t[tidx]\"}}, body: [\"load a[x + k]\"]}]\n\
                launch: {block: [[4]]}\n";
    let loaded = load("k", text, &Default::default()).unwrap();
    let launch = Launch::new(&loaded.kernels[0], Candidate { block: [4, 1, 1], fold: [1; 3] }).unwrap();
    let program = Program::of(&loaded.kernels[0], launch.candidate).unwrap().at(&launch).unwrap();
    for thread in 0..4 {
        let ran = visit_thread(&program, [3, 1, 1], [4, 1, 1], [0; 3], [thread, 0, 0], 100, &mut |_| ());
        assert_eq!(ran, Ok(()), "thread {thread}");
    }
}

/// The elements that the first thread of a block touches.
fn elements(text: &str, block: [i64; 3]) -> Vec<i64> {
    let kernel = load("k", text, &Default::default()).unwrap().kernels.remove(0);
    let candidate = wavecast::launch::candidates(&kernel).next().unwrap();
    let launch = Launch::new(&kernel, candidate).unwrap();
    let program = Program::of(&kernel, candidate).unwrap().at(&launch).unwrap();
    let mut elements = Vec::new();
    visit_thread(&program, kernel.extents(), launch.sizes.block, block, [0; 3], 100, &mut |t| {
        elements.push(t.element);
    })
    .unwrap();
    elements
}
