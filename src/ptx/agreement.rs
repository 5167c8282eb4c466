//! A kernel document held against the PTX that it was read from: what threads of one access, and of the other.

use std::collections::{BTreeMap, BTreeSet};

use super::answer::ReadAccess;
use super::run::{AccessOperation, EntryNotRun, Machine, Memory, ThreadAccess, ThreadEvent, Who};
use crate::expr::Excess;
use crate::kernel::{AccessKind, Kernel, Space};
use crate::launch::{self, Launch, Touched, Touching};
use crate::space::{BlockIndex, Thread};

/// Differences that are written down; the rest is counted.
const MOST_SHOWN: usize = 20;
/// Steps of all threads together.
const MOST_STEPS: u64 = 1 << 32;
/// Accesses that are held at once, on each side: some hundred megabytes.
const MOST_ACCESSES: usize = 1 << 21;

/// An access by what it does and to what.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reached {
    /// What it does.
    pub operation: AccessOperation,
    /// Where.
    pub memory: Memory,
    /// The field.
    pub field: String,
    /// Bytes behind its first byte.
    pub offset: i64,
    /// Bytes.
    pub bytes: i64,
}

/// What differs for one thread.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThreadDifference {
    /// Its block's place in the grid.
    pub block: BlockIndex,
    /// Its place in the block.
    pub thread: Thread,
    /// What the document has and the program does not do, as often as it is too much.
    pub invented: Vec<Reached>,
    /// What the program does and the document does not have.
    pub missed: Vec<Reached>,
}

/// Accesses of which data decide whether they are done, or where: by what they do, the field and the bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Undecided {
    perhaps: BTreeSet<(AccessOperation, String, i64)>,
    anywhere: BTreeSet<(AccessOperation, String, i64)>,
}

impl Undecided {
    /// Those of what was read.
    pub fn among(accesses: &[ReadAccess]) -> Self {
        let flagged = accesses.iter().filter(|access| access.status == "data");
        // What is in a thread's own memory may be counted fewer times than it is touched.
        let own = |access: &ReadAccess| access.anywhere || access.space == "local";
        Self::new(flagged.filter_map(|a| Some((a.op, a.field.as_deref()?, a.width, own(a)))))
    }

    /// Those of a list: what is done, the field, bytes, and whether data decide where it is.
    pub fn new<'a>(flagged: impl IntoIterator<Item = (&'a str, &'a str, u64, bool)>) -> Self {
        let mut all = Self::default();
        for (op, field, bytes, anywhere) in flagged {
            let known = AccessOperation::NAMED.iter().find(|(word, _)| *word == op);
            let Some(&(_, operation)) = known else { continue };
            let which = (operation, field.to_owned(), bytes.cast_signed());
            if anywhere {
                all.anywhere.insert(which.clone());
            }
            all.perhaps.insert(which);
        }
        all
    }

    fn named(&self, machine: &Machine) -> Self {
        let named = |all: &BTreeSet<(AccessOperation, String, i64)>| {
            all.iter().map(|(op, field, n)| (*op, own_name(machine, field).to_owned(), *n)).collect()
        };
        Self { perhaps: named(&self.perhaps), anywhere: named(&self.anywhere) }
    }

    /// Takes out of two lists what data may decide: whether the document's are done, and where in their fields. Says how
    /// many of the document the program does not do.
    fn settle(&self, invented: &mut Vec<Reached>, missed: &mut Vec<Reached>) -> usize {
        let which = |r: &Reached| (r.operation, r.field.clone(), r.bytes);
        let before = invented.len();
        missed.retain(|reached| {
            if !self.anywhere.contains(&which(reached)) {
                return true;
            }
            let other = invented.iter().position(|r| which(r) == which(reached));
            if let Some(other) = other {
                invented.remove(other);
            }
            // Loops that data end may touch a thread's own memory more often than is counted.
            other.is_none() && reached.memory != Memory::Local
        });
        let elsewhere = before - invented.len();
        invented.retain(|reached| !self.perhaps.contains(&which(reached)));
        before - elsewhere - invented.len()
    }
}

/// How a document and a program agree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Agreement {
    /// Threads that were compared.
    pub threads: usize,
    /// Accesses of the program in them.
    pub accesses: usize,
    /// Threads that do the same in another order.
    pub reordered: usize,
    /// Threads that load again what the document has loaded once: equal loads of a document are one.
    pub merged: usize,
    /// Accesses, and decisions whether there are any, that rest on data that was not given: guesses were compared.
    pub guessed: usize,
    /// Accesses of the document that the program does not do, where data decide whether it does.
    pub undone: usize,
    /// Threads that differ.
    pub different: usize,
    /// What differs, of the first of them.
    pub differences: Vec<ThreadDifference>,
}

/// Why they could not be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotCompared {
    /// The program could not be run.
    #[error("the PTX cannot be run: {0}")]
    Entry(#[from] EntryNotRun),
    /// The addresses of the document cannot be computed.
    #[error("the document cannot be run: {0}")]
    Addresses(#[from] Excess),
    /// A thread of the document could not be run.
    #[error("the document cannot be run: {0}")]
    Document(#[from] launch::NotRun),
    /// A thread accesses memory more often than is held at once.
    #[error(
        "thread {thread:?} of block {block:?} has more than {MOST_ACCESSES} accesses and iterations {whose}, which is too \
         much to compare: give the parameters smaller values, for which the same formulas hold"
    )]
    TooMany {
        /// Its block's place in the grid.
        block: BlockIndex,
        /// Its place in the block.
        thread: Thread,
        /// By what it has so many.
        whose: &'static str,
    },
}

/// Compares what threads of a launch of a document access with what they do when the program runs. Fields are compared
/// by their names; underscores behind the name of a document's field do not count, where the name was taken. Constant memory
/// is left out where the document has no field of that name. Of what is `undecided` the program may do less than the
/// document says, and elsewhere.
pub fn agreement(
    kernel: &Kernel,
    launch: &Launch,
    machine: &Machine,
    threads: &[(BlockIndex, Thread)],
    undecided: &Undecided,
) -> Result<Agreement, NotCompared> {
    let undecided = undecided.named(machine);
    let touching = Touching::new(kernel, launch)?;
    let mut by_block: BTreeMap<BlockIndex, Vec<Thread>> = BTreeMap::new();
    for &(block, thread) in threads {
        by_block.entry(block).or_default().push(thread);
    }
    let mut found = Agreement::default();
    let compared = Compared { kernel, machine, undecided: &undecided };
    for (block, threads) in by_block {
        // The document comes first: what it says of a thread tells whether the program can be run.
        let (mut batch, mut held) = (Vec::new(), 0);
        for thread in threads {
            let touched = touched(&touching, block, thread)?;
            if held + touched.len() > MOST_ACCESSES {
                found.add_all(&compared, block, std::mem::take(&mut batch))?;
                held = 0;
            }
            held += touched.len();
            batch.push((thread, touched));
        }
        found.add_all(&compared, block, batch)?;
    }
    Ok(found)
}

/// What is compared: the document, the program, and what data may decide.
struct Compared<'c> {
    kernel: &'c Kernel,
    machine: &'c Machine,
    undecided: &'c Undecided,
}

/// What a thread touches by the document.
fn touched(touching: &Touching<'_>, block: BlockIndex, thread: Thread) -> Result<Vec<Touched>, NotCompared> {
    touching.thread_within(block, thread, MOST_ACCESSES).map_err(|why| match why {
        launch::NotRun::Stopped(_) => NotCompared::TooMany { block, thread, whose: "by the document" },
        other => NotCompared::Document(other),
    })
}

/// The number of a thread in its block.
fn number(machine: &Machine, thread: Thread) -> Result<u32, EntryNotRun> {
    let block = machine.block();
    if (0..3).any(|d| !(0..block[d]).contains(&thread[d])) {
        return Err(EntryNotRun::Arguments(format!("blocks of {block:?} have no thread {thread:?}")));
    }
    let ([bx, by, _], [x, y, z]) = (*block, *thread);
    Ok(u32::try_from(x + bx * (y + by * z)).expect("a machine has at most 2048 threads in a block"))
}

/// What a thread accesses, and how often it decided something by what is not known.
type Done = (Vec<ThreadAccess>, usize);

/// What threads of a block do: alone where that is enough, or with all others of the block, where they need what those
/// put into shared memory.
fn run(machine: &Machine, block: BlockIndex, threads: &[Thread]) -> Result<BTreeMap<u32, Done>, NotCompared> {
    let mut numbers: Vec<u32> =
        threads.iter().map(|&thread| number(machine, thread)).collect::<Result<_, _>>()?;
    numbers.sort_unstable();
    numbers.dedup();
    let with = |who: Who<'_>| {
        let mut done: BTreeMap<u32, Done> = BTreeMap::new();
        let (mut held, mut too_many) = (0, None);
        machine.start(MOST_STEPS).block(block, who, &mut |thread, event| {
            if numbers.binary_search(&thread).is_err() {
                return;
            }
            let own = done.entry(thread).or_default();
            match event {
                // Twice as many as documents have: what they load once, programs may load again.
                ThreadEvent::Access(_) if held == 2 * MOST_ACCESSES => too_many = Some(thread),
                ThreadEvent::Access(access) => {
                    held += 1;
                    own.0.push(access);
                }
                ThreadEvent::Guess { .. } => own.1 += 1,
                ThreadEvent::Barrier => {}
            }
        })?;
        match too_many {
            None => Ok(done),
            Some(number) => {
                let [x, y, _] = *machine.block();
                let number = i64::from(number);
                let thread = Thread::from([number % x, number / x % y, number / x / y]);
                Err(NotCompared::TooMany { block, thread, whose: "in the program" })
            }
        }
    };
    let alone = with(Who::Threads(&numbers))?;
    let clear = |(accesses, guesses): &Done| *guesses == 0 && accesses.iter().all(|access| access.sure);
    if alone.values().all(clear) { Ok(alone) } else { with(Who::All) }
}

impl Agreement {
    /// Whether nothing differs but the order, and how often the same is loaded.
    pub fn holds(&self) -> bool {
        self.different == 0
    }

    /// Adds threads of a block with what they do by the document.
    fn add_all(
        &mut self,
        compared: &Compared<'_>,
        block: BlockIndex,
        batch: Vec<(Thread, Vec<Touched>)>,
    ) -> Result<(), NotCompared> {
        let threads: Vec<Thread> = batch.iter().map(|(thread, _)| *thread).collect();
        let mut done = run(compared.machine, block, &threads)?;
        for (thread, touched) in batch {
            // A thread that does nothing to memory stands nowhere.
            let (own, guesses) = done.remove(&number(compared.machine, thread)?).unwrap_or_default();
            self.guessed += guesses;
            self.add(compared, (block, thread), &touched, &own);
        }
        Ok(())
    }

    fn add(
        &mut self,
        compared: &Compared<'_>,
        (block, thread): (BlockIndex, Thread),
        touched: &[Touched],
        accesses: &[ThreadAccess],
    ) {
        let Compared { kernel, machine, undecided } = *compared;
        let known = |name: &str| kernel.fields.iter().any(|f| own_name(machine, &f.name) == name);
        let mut program: Vec<Reached> = Vec::new();
        for access in accesses {
            match access.memory {
                Memory::Local => program.extend(words(machine, (block, thread), access)),
                Memory::Constant if !known(machine.name(access)) => {}
                _ => program.push(of_program(kernel, machine, access)),
            }
        }
        let mut document: Vec<Reached> =
            touched.iter().map(|touched| of_document(kernel, machine, touched)).collect();
        self.threads += 1;
        self.accesses += program.len();
        self.guessed += accesses.iter().filter(|access| !access.sure).count();
        if document == program {
            return;
        }
        document.sort();
        program.sort();
        if document == program {
            self.reordered += 1;
            return;
        }
        let (mut invented, mut missed) = (without(&document, &program), without(&program, &document));
        self.undone += undecided.settle(&mut invented, &mut missed);
        let again = |r: &Reached| r.operation == AccessOperation::Load && document.binary_search(r).is_ok();
        if invented.is_empty() && missed.iter().all(again) {
            self.merged += usize::from(!missed.is_empty());
            return;
        }
        self.different += 1;
        if self.differences.len() < MOST_SHOWN {
            self.differences.push(ThreadDifference { block, thread, invented, missed });
        }
    }
}

/// The name that the program has for a field of a document.
fn own_name<'n>(machine: &Machine, name: &'n str) -> &'n str {
    let trimmed = name.trim_end_matches('_');
    if !machine.has_field(name) && machine.has_field(trimmed) { trimmed } else { name }
}

fn of_document(kernel: &Kernel, machine: &Machine, touched: &Touched) -> Reached {
    let field = kernel.field(touched.field);
    Reached {
        operation: match touched.kind {
            AccessKind::Load => AccessOperation::Load,
            AccessKind::Store => AccessOperation::Store,
            AccessKind::Atomic => AccessOperation::Atomic,
        },
        memory: match field.space {
            Space::Global => Memory::Global,
            Space::Shared => Memory::Shared,
            Space::Private => Memory::Local,
        },
        field: own_name(machine, &field.name).to_owned(),
        offset: touched.offset,
        bytes: touched.bytes,
    }
}

fn of_program(kernel: &Kernel, machine: &Machine, access: &ThreadAccess) -> Reached {
    let name = machine.name(access);
    let known = kernel.fields.iter().any(|f| own_name(machine, &f.name) == name);
    let global = access.memory == Memory::Constant && known;
    Reached {
        operation: access.operation,
        memory: if global { Memory::Global } else { access.memory },
        field: name.to_owned(),
        offset: access.offset,
        bytes: i64::from(access.bytes),
    }
}

/// An access to local memory as documents have it: each word of a variable is a row, in which the threads of a block
/// have places side by side.
fn words(machine: &Machine, (block, thread): (BlockIndex, Thread), access: &ThreadAccess) -> Vec<Reached> {
    // Neither lies outside: the program has run.
    let (Some((name, bytes, at)), Ok(number)) = (machine.local_variable(access), number(machine, thread))
    else {
        return Vec::new();
    };
    let row = 4 * i64::from(machine.threads().div_ceil(32) * 32);
    let ([x, y, z], [wide, high, _]) = (*block, *machine.grid());
    let before = (x + wide * (y + high * z)) * row * bytes.div_ceil(4).cast_signed() + 4 * i64::from(number);
    let last = at + i64::from(access.bytes) - 1;
    (at.div_euclid(4)..=last.div_euclid(4))
        .map(|word| Reached {
            operation: access.operation,
            memory: Memory::Local,
            field: name.to_owned(),
            offset: before + word * row + if access.bytes < 4 { at.rem_euclid(4) } else { 0 },
            bytes: i64::from(access.bytes.min(4)),
        })
        .collect()
}

/// What is in one sorted list more often than in the other.
fn without(list: &[Reached], other: &[Reached]) -> Vec<Reached> {
    let (mut left, mut rest) = (Vec::new(), other);
    for reached in list {
        let behind = rest.partition_point(|r| r < reached);
        rest = &rest[behind..];
        if rest.first() == Some(reached) {
            rest = &rest[1..];
        } else {
            left.push(reached.clone());
        }
    }
    left
}
