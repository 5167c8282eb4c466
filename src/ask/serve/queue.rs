//! Requests that wait for a worker and those that are being worked on.
//!
//! Rankings, explanations and series wait in a lane of their own: they take long, and a prediction that takes a
//! millisecond should not wait for one. What waits is bounded; who sends more waits until there is room.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::id::Id;
use super::job::Job;
use crate::effort::Stop;

/// Most requests that wait, and most bytes of their texts; one of any length is taken where none waits.
const MOST: usize = 4096;
const MOST_BYTES: usize = 16 << 20;
/// What a request takes beside its text.
const BYTES_EACH: usize = 1024;

/// A request and who is to be answered.
#[derive(Debug)]
pub(super) struct Task {
    pub id: Id,
    pub job: Box<Job>,
}

/// A task that a worker does now.
#[derive(Debug)]
pub(super) struct Begun {
    pub task: Task,
    pub stop: Stop,
    number: u64,
}

/// Which workers do it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lane {
    Short,
    Long,
}

impl Lane {
    fn index(self) -> usize {
        match self {
            Lane::Short => 0,
            Lane::Long => 1,
        }
    }
}

impl Task {
    fn lane(&self) -> Lane {
        if self.job.asked.is_long() { Lane::Long } else { Lane::Short }
    }

    fn bytes(&self) -> usize {
        BYTES_EACH + self.job.source.text.len()
    }
}

/// What is worked on.
#[derive(Debug)]
struct Running {
    number: u64,
    id: Id,
    lane: Lane,
    stop: Stop,
}

#[derive(Debug, Default)]
struct State {
    short: VecDeque<Task>,
    long: VecDeque<Task>,
    bytes: usize,
    /// The number of workers of each lane.
    workers: [usize; 2],
    /// Those of them that have nothing to do.
    idle: [BTreeSet<usize>; 2],
    running: Vec<Running>,
    /// How many answers are being written: their reader may let them wait.
    answering: usize,
    begun: u64,
    /// Who sends more waits until there is room.
    full: bool,
    /// Nothing more will come.
    closed: bool,
    /// Nobody reads the answers any more.
    abandoned: bool,
}

impl State {
    fn lane(&mut self, lane: Lane) -> &mut VecDeque<Task> {
        match lane {
            Lane::Short => &mut self.short,
            Lane::Long => &mut self.long,
        }
    }

    fn idle(&mut self, lane: Lane) -> &mut BTreeSet<usize> {
        &mut self.idle[lane.index()]
    }

    /// Whether there is nothing for a worker to do. Of those that have nothing to do the first takes what comes:
    /// each thread keeps memory of what it did last, so that few should take turns. A reader that works is one of them.
    fn has_nothing_for(&mut self, lane: Lane, worker: usize) -> bool {
        if self.abandoned {
            return false;
        }
        if self.lane(lane).is_empty() {
            return !self.closed;
        }
        self.idle(lane).first() != Some(&worker) || self.running_in(lane) >= self.workers[lane.index()]
    }

    fn running_in(&self, lane: Lane) -> usize {
        self.running.iter().filter(|running| running.lane == lane).count()
    }

    fn waiting(&self) -> usize {
        self.short.len() + self.long.len()
    }

    /// Notes that a task is worked on from now on, which may take so long.
    fn begin(&mut self, task: Task, limit: Option<Duration>) -> Begun {
        self.begun += 1;
        let (number, stop) = (self.begun, limit.map_or_else(Stop::new, Stop::after));
        let (id, lane) = (task.id.clone(), task.lane());
        self.running.push(Running { number, id, lane, stop: stop.clone() });
        Begun { task, stop, number }
    }
}

/// Tasks that wait, and who waits for them: each worker is woken by itself, as waking all for each request takes longer
/// than most requests.
#[derive(Debug)]
pub(super) struct Queue {
    state: Mutex<State>,
    /// Of each lane, by number.
    workers: [Vec<Condvar>; 2],
    /// There is room again.
    room: Condvar,
}

impl Queue {
    /// For so many workers of each lane.
    pub fn new(short: usize, long: usize) -> Self {
        let workers = [short, long];
        let state = Mutex::new(State { workers, ..State::default() });
        let workers = workers.map(|count| (0..count).map(|_| Condvar::new()).collect());
        Self { state, workers, room: Condvar::new() }
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the worker who takes what waits in a lane, if one has nothing to do.
    fn wake(&self, state: &mut State, lane: Lane) {
        let first = state.idle(lane).first().copied().filter(|_| !state.lane(lane).is_empty());
        if let Some(worker) = first.and_then(|worker| self.workers[lane.index()].get(worker)) {
            worker.notify_one();
        }
    }

    fn wake_all(&self) {
        self.workers.iter().flatten().for_each(Condvar::notify_all);
        self.room.notify_all();
    }

    /// Lets who sends more see whether there is room.
    fn make_room(&self, state: &mut State) {
        if std::mem::take(&mut state.full) {
            self.room.notify_all();
        }
    }

    /// Lets a task wait for a worker, as soon as there is room; `false` if nobody reads answers any more.
    pub fn push(&self, task: Task) -> bool {
        let bytes = task.bytes();
        let full = |s: &mut State| {
            let waiting = s.waiting();
            s.full = !s.abandoned
                && waiting > 0
                && (waiting >= MOST || s.bytes.saturating_add(bytes) > MOST_BYTES);
            s.full
        };
        let state = self.locked();
        let mut state = self.room.wait_while(state, full).unwrap_or_else(PoisonError::into_inner);
        if state.abandoned {
            return false;
        }
        state.bytes += bytes;
        let lane = task.lane();
        state.lane(lane).push_back(task);
        self.wake(&mut state, lane);
        true
    }

    /// The next task of a lane for one of its workers, which may take so long; `None` when no more will come.
    pub fn begin(&self, lane: Lane, worker: usize, limit: Option<Duration>) -> Option<Begun> {
        let mut state = self.locked();
        state.idle(lane).insert(worker);
        let idle = |s: &mut State| s.has_nothing_for(lane, worker);
        let mut state = self.workers[lane.index()][worker]
            .wait_while(state, idle)
            .unwrap_or_else(PoisonError::into_inner);
        state.idle(lane).remove(&worker);
        if state.abandoned {
            return None;
        }
        let task = state.lane(lane).pop_front();
        if state.closed && state.lane(lane).is_empty() {
            // Those who left the last one to this worker wait for nothing any more.
            self.workers[lane.index()].iter().for_each(Condvar::notify_all);
        }
        // The next one takes what else waits.
        self.wake(&mut state, lane);
        let task = task?;
        state.bytes = state.bytes.saturating_sub(task.bytes());
        let begun = state.begin(task, limit);
        self.make_room(&mut state);
        Some(begun)
    }

    /// Begins a short task without a worker, if no other one waits or is worked on; gives it back otherwise.
    pub fn begin_alone(&self, task: Task, limit: Option<Duration>) -> Result<Begun, Task> {
        let mut state = self.locked();
        // Where an answer is not read, nobody would read requests any more.
        let alone = task.lane() == Lane::Short
            && state.short.is_empty()
            && state.running_in(Lane::Short) == 0
            && state.answering == 0;
        if alone && !state.abandoned { Ok(state.begin(task, limit)) } else { Err(task) }
    }

    /// A task was answered.
    pub fn answered(&self) {
        self.locked().answering -= 1;
    }

    /// A task is about to be answered.
    pub fn done(&self, begun: &Begun) {
        let mut state = self.locked();
        state.running.retain(|r| r.number != begun.number);
        state.answering += 1;
        // A worker may have waited for a reader to be done.
        self.wake(&mut state, Lane::Short);
    }

    /// Stops what runs under an id, and takes out what waits under it. Says how many were stopped, and which
    /// tasks were taken out.
    pub fn cancel(&self, id: &Id) -> (usize, Vec<Task>) {
        let mut state = self.locked();
        let mut stopped = 0;
        for running in state.running.iter().filter(|r| r.id.is(id)) {
            running.stop.ask();
            stopped += 1;
        }
        let taken = self.take(&mut state, |task| task.id.is(id));
        (stopped, taken)
    }

    /// Takes out all that wait.
    pub fn drain(&self) -> Vec<Task> {
        let mut state = self.locked();
        self.take(&mut state, |_| true)
    }

    fn take(&self, state: &mut State, which: impl Fn(&Task) -> bool) -> Vec<Task> {
        let mut taken = Vec::new();
        for lane in [Lane::Short, Lane::Long] {
            let (out, kept) = std::mem::take(state.lane(lane)).into_iter().partition(&which);
            *state.lane(lane) = kept;
            taken.extend::<VecDeque<Task>>(out);
        }
        state.bytes -= taken.iter().map(Task::bytes).sum::<usize>().min(state.bytes);
        self.make_room(state);
        taken
    }

    /// Nothing more will come.
    pub fn close(&self) {
        self.locked().closed = true;
        self.wake_all();
    }

    /// Nobody reads answers any more: what waits is dropped, what runs is stopped.
    pub fn abandon(&self) {
        let mut state = self.locked();
        state.abandoned = true;
        state.running.iter().for_each(|running| running.stop.ask());
        self.wake_all();
    }
}
