//! An entry with its arguments, ready to be run.

use super::block;
use super::code::{Code, Place as Special};
use super::decode;
use super::field::EntryField;
use super::half::{brain, half};
use super::lane::{Lane, State};
use super::layout::{Layout, base};
use super::memory::{Global, Small, Value};
use super::record::{Memory, Place, ThreadAccess, ThreadEvent};
use super::refusal::EntryNotRun;
use super::warp::LANES;
use super::word::Word;
use super::world::{Steps, World};
use crate::ptx::syntax::{Function, Module, Param};
use crate::space::{Block, BlockIndex, Grid};

/// Threads of a block at most.
const MOST_THREADS: u32 = 2048;
/// Bytes that the threads of a block may take, for registers, local memory and parameters.
const MOST_BYTES: u64 = 1 << 28;

/// What a parameter of an entry gets.
#[derive(Debug, Clone, PartialEq)]
pub enum Argument {
    /// A whole number.
    Integer(i64),
    /// A number, in the format of the parameter.
    Float(f64),
    /// A number with a fraction that nobody gave: what is computed from it is not known.
    AnyFloat,
    /// The address of a byte in a field, by the position of the field in the list.
    Pointer {
        /// Its position.
        field: usize,
        /// Bytes behind the first byte of the field.
        offset: i64,
    },
    /// A struct: where each part begins, how many bytes it has, and what it is.
    Parts(Vec<(u32, u32, Argument)>),
}

/// How large a launch is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Threads of a block.
    pub block: Block,
    /// Blocks of the grid.
    pub grid: Grid,
    /// Bytes of dynamic shared memory.
    pub shared: u64,
}

/// An entry with its arguments, ready to be run.
#[derive(Debug, Clone)]
pub struct Machine {
    code: Code,
    layout: Layout,
    fields: Vec<EntryField>,
    block: [u32; 3],
    grid: [u32; 3],
    /// Bytes of parameters that nobody gave: where they begin, and how many they are.
    unknown: Vec<(u64, u8)>,
}

/// Which threads of a block run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who<'t> {
    /// All of them.
    All,
    /// These alone, by their numbers in the block, in ascending order. Nobody waits for others, and what others would
    /// have put into shared memory is not known.
    Threads(&'t [u32]),
}

/// Blocks of a launch, run one after the other; what one writes the next may read.
pub struct MachineRun<'m> {
    machine: &'m Machine,
    global: Global<'m>,
    steps: Steps,
    start: Lane,
    lanes: Vec<Lane>,
}

impl Machine {
    /// An entry of a module with arguments, one for each parameter. Variables of the module become fields behind those
    /// that are given.
    pub fn new(
        module: &Module,
        entry: &str,
        arguments: &[Argument],
        mut fields: Vec<EntryField>,
        sizes: &Sizes,
    ) -> Result<Self, EntryNotRun> {
        let function = module.entries().find(|f| f.name == entry);
        let function = function.ok_or_else(|| EntryNotRun::NoEntry(entry.to_owned()))?;
        if module.address_bits != 64 {
            return Err(EntryNotRun::Arguments(
                "only modules with addresses of 64 bits can be run".to_owned(),
            ));
        }
        let given = fields.len();
        let layout = Layout::new(module, &mut fields, sizes.shared)?;
        let narrow = |n: i64| u32::try_from(n).ok();
        let (block, grid) = (sizes.block.map(narrow), sizes.grid.map(narrow));
        let ([Some(bx), Some(by), Some(bz)], [Some(gx), Some(gy), Some(gz)]) = (block, grid) else {
            return Err(EntryNotRun::TooLarge("the launch"));
        };
        let (block, grid) = ([bx, by, bz], [gx, gy, gz]);
        let threads = block.iter().try_fold(1_u32, |n, &e| n.checked_mul(e)).filter(|&n| n <= MOST_THREADS);
        let threads = threads.ok_or(EntryNotRun::TooLarge("the block"))?;
        let mut code = decode::code(module, function, &layout, (block, grid, sizes.shared))?;
        let registers = (code.registers.len() * size_of::<Value>()) as u64;
        // Of each byte of memory it is known whether it is known.
        let each = registers + 2 * (code.local_bytes + code.params.len() as u64);
        if each * u64::from(threads) > MOST_BYTES {
            return Err(EntryNotRun::TooLarge("what the threads of a block have for themselves"));
        }
        let unknown = pass(&mut code, function, arguments, given)?;
        Ok(Self { code, layout, fields, block, grid, unknown })
    }

    /// Begins a run of at most so many steps of all threads together.
    pub fn start(&self, most_steps: u64) -> MachineRun<'_> {
        let values = self.code.registers.iter().zip(&self.code.known);
        let mut params = Small::of_bytes(self.code.params.clone());
        for (start, bytes) in &self.unknown {
            params.write(*start, *bytes, Value { bits: 0, known: false });
        }
        let start = Lane {
            thread: 0,
            step: 0,
            calls: Vec::new(),
            registers: values.map(|(&bits, &known)| Value { bits, known }).collect(),
            params,
            local: Small::empty(self.code.local_bytes),
            state: State::Ready,
            sure: true,
        };
        let global = Global::new(&self.fields);
        MachineRun { machine: self, global, steps: Steps::new(most_steps), start, lanes: Vec::new() }
    }

    /// The block.
    pub fn block(&self) -> Block {
        Block::known(self.block.map(i64::from))
    }

    /// The grid.
    pub fn grid(&self) -> Grid {
        Grid::known(self.grid.map(i64::from))
    }

    /// Threads of a block.
    pub fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    /// Bytes of local memory of a thread.
    pub fn local_bytes(&self) -> u64 {
        self.code.local_bytes
    }

    /// The instruction that a step belongs to.
    pub fn place(&self, step: u32) -> Place<'_> {
        let origin = self.code.origins[step as usize];
        let function = &self.code.functions[origin.function as usize];
        Place { function, instruction: origin.instruction, line: origin.line }
    }

    /// The name of what an access goes to; of local memory, none.
    pub fn name(&self, access: &ThreadAccess) -> &str {
        let field = access.field as usize;
        match access.memory {
            Memory::Global | Memory::Constant => self.fields.get(field).map_or("", |f| &f.name),
            Memory::Shared => self.layout.shared.get(field).map_or("", |s| &s.name),
            Memory::Local => "",
        }
    }

    /// Bytes of an access to shared memory behind the first byte of the block's.
    pub fn shared_offset(&self, access: &ThreadAccess) -> i64 {
        let start = self.layout.shared.get(access.field as usize).map_or(0, |s| s.start);
        start.cast_signed() + access.offset
    }

    /// Whether a field or a variable of shared memory has this name.
    pub fn has_field(&self, name: &str) -> bool {
        self.fields.iter().any(|f| f.name == name) || self.layout.shared.iter().any(|s| s.name == name)
    }

    /// The variable of local memory that an access goes to: its name, its bytes, and how far behind its first byte the
    /// access begins.
    pub fn local_variable(&self, access: &ThreadAccess) -> Option<(&str, u64, i64)> {
        let behind = self.code.local.partition_point(|l| l.start.cast_signed() <= access.offset);
        let variable = &self.code.local[behind.checked_sub(1)?];
        Some((&variable.name, variable.bytes, access.offset - variable.start.cast_signed()))
    }

    /// The fields, those that were given first.
    pub fn fields(&self) -> &[EntryField] {
        &self.fields
    }

    fn special(&self, special: Special, thread: u32, block: [u32; 3]) -> u64 {
        let [x, y, _] = self.block;
        let lane = thread % LANES;
        let below = (1_u64 << lane) - 1;
        let all = u64::from(u32::MAX);
        match special {
            Special::Thread(0) => u64::from(thread % x),
            Special::Thread(1) => u64::from(thread / x % y),
            Special::Thread(_) => u64::from(thread / x / y),
            Special::Block(d) => u64::from(block[d]),
            Special::Lane => u64::from(lane),
            Special::Warp => u64::from(thread / LANES),
            Special::LanesBelow => below,
            Special::LanesUpTo => below << 1 | 1,
            Special::LanesAbove => all & !(below << 1 | 1),
            Special::LanesFrom => all & !below,
            Special::ThisLane => 1 << lane,
        }
    }
}

impl MachineRun<'_> {
    /// Runs threads of a block; `sink` gets what each does, by its number in the block. Events of a thread come in the
    /// order of its program.
    pub fn block(
        &mut self,
        place: BlockIndex,
        who: Who<'_>,
        sink: &mut dyn FnMut(u32, ThreadEvent),
    ) -> Result<(), EntryNotRun> {
        let machine = self.machine;
        let inside = [0, 1, 2].map(|d| u32::try_from(place[d]).ok().filter(|&at| at < machine.grid[d]));
        let [Some(x), Some(y), Some(z)] = inside else {
            return Err(EntryNotRun::Arguments(format!(
                "the grid {:?} has no block {place:?}",
                machine.grid
            )));
        };
        let place = [x, y, z];
        let all: Vec<u32> = (0..machine.threads()).collect();
        let threads = match who {
            Who::All => &all,
            Who::Threads(chosen) => chosen,
        };
        if threads.iter().any(|&t| t >= machine.threads()) || !threads.is_sorted_by(|a, b| a < b) {
            return Err(EntryNotRun::Arguments(
                "threads of a block are numbered once, in ascending order".to_owned(),
            ));
        }
        self.lanes.resize_with(threads.len().max(self.lanes.len()), || self.start.clone());
        for (lane, &thread) in self.lanes.iter_mut().zip(threads) {
            lane.registers.copy_from_slice(&self.start.registers);
            lane.params.reset(&self.start.params);
            lane.local.forget();
            lane.calls.clear();
            (lane.thread, lane.step, lane.state, lane.sure) = (thread, 0, State::Ready, true);
            for &(slot, special) in &machine.code.special {
                lane.set(slot, machine.special(special, thread, place), true);
            }
        }
        let mut world = World {
            code: &machine.code,
            layout: &machine.layout,
            global: &mut self.global,
            shared: Small::empty(machine.layout.shared_bytes),
            steps: &mut self.steps,
            sink,
            arrived: Vec::new(),
        };
        block::run(&mut world, &mut self.lanes[..threads.len()], machine.threads())
    }

    /// The 8 bytes at a place of a field as they are now, if they are known.
    pub fn word(&self, field: usize, offset: i64) -> Option<u64> {
        let value = self.global.read(base(field).wrapping_add_signed(offset), 8);
        value.known.then_some(value.bits)
    }

    /// Steps that were done, in portions.
    pub fn steps(&self) -> u64 {
        self.steps.done
    }
}

/// Puts arguments where the entry looks for its parameters. The answer is where nothing is known of them.
fn pass(
    code: &mut Code,
    function: &Function,
    arguments: &[Argument],
    fields: usize,
) -> Result<Vec<(u64, u8)>, EntryNotRun> {
    let mut unknown = Vec::new();
    if arguments.len() != function.params.len() {
        let (want, have) = (function.params.len(), arguments.len());
        let message = format!("`{}` has {want} parameters; there are {have} arguments", function.name);
        return Err(EntryNotRun::Arguments(message));
    }
    let mut at = 0_u64;
    for (param, argument) in function.params.iter().zip(arguments) {
        // As memory for parameters was given out: those of the entry come first.
        at = at.next_multiple_of(param.align.clamp(1, 128));
        let start = usize::try_from(at).map_err(|_| EntryNotRun::TooLarge("memory of parameters"))?;
        let end =
            usize::try_from(at + param.bytes()).map_err(|_| EntryNotRun::TooLarge("memory of parameters"))?;
        let whole = (0, u32::low(param.bytes()), argument.clone());
        let parts = match argument {
            Argument::Parts(parts) => parts.as_slice(),
            _ => std::slice::from_ref(&whole),
        };
        for (offset, bytes, value) in parts {
            let bits = bits(param, value, *bytes, fields)?;
            let (from, count) = (start + *offset as usize, *bytes as usize);
            if matches!(value, Argument::AnyFloat) {
                unknown.push((from as u64, u8::try_from(count.min(8)).expect("at most eight")));
            }
            let Some(place) = code.params[start..end].get_mut(from - start..from - start + count) else {
                return Err(EntryNotRun::Arguments(format!(
                    "a part lies beyond the parameter `{}`",
                    param.name
                )));
            };
            for (byte, given) in
                place.iter_mut().zip(bits.to_le_bytes().into_iter().chain(std::iter::repeat(0)))
            {
                *byte = given;
            }
        }
        at += param.bytes();
    }
    Ok(unknown)
}

#[expect(clippy::cast_possible_truncation, reason = "a number for a single is the nearest one")]
fn bits(param: &Param, value: &Argument, bytes: u32, fields: usize) -> Result<u64, EntryNotRun> {
    let whole = param.count.is_none();
    Ok(match value {
        Argument::Integer(value) if whole && param.element.kind == 'f' => {
            return bits(param, &Argument::Float(*value as f64), bytes, fields);
        }
        Argument::Integer(value) => value.cast_unsigned(),
        Argument::AnyFloat => 0,
        Argument::Float(value) => match bytes {
            8 => value.to_bits(),
            4 => (*value as f32).word(),
            2 => half(*value as f32),
            _ => brain(*value as f32),
        },
        Argument::Pointer { field, offset } if *field < fields => base(*field).wrapping_add_signed(*offset),
        Argument::Pointer { .. } => {
            return Err(EntryNotRun::Arguments(format!("no field of this number for `{}`", param.name)));
        }
        Argument::Parts(_) => {
            return Err(EntryNotRun::Arguments(format!("parts within parts for `{}`", param.name)));
        }
    })
}
