//! Work on all processors at a time, in an order that does not depend on them.
//!
//! A process made by `fork()` has none of the threads of its parent, so that work handed to the pool that the
//! parent started would wait for ever. Where the pool is another process's, the caller's thread does the work, and so it
//! does where there are no threads: without the feature `threads`.

use std::process;
#[cfg(feature = "threads")]
use std::sync::atomic::{AtomicU32, Ordering};
#[cfg(feature = "threads")]
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

#[cfg(feature = "threads")]
use rayon::prelude::*;

use crate::effort;

/// The process that uses the pool of this program; 0 before anybody does.
#[cfg(feature = "threads")]
static OWNER: AtomicU32 = AtomicU32::new(0);

/// What comes of each item, in their order.
pub fn map<T: Sync, R: Send>(items: &[T], one: impl Fn(&T) -> R + Sync + Send) -> Vec<R> {
    let stop = effort::unwinding_stop();
    let one = |item: &T| {
        if let Some(stop) = &stop {
            stop.unwind_if_asked();
        }
        one(item)
    };
    #[cfg(feature = "threads")]
    if items.len() > 1 && has_threads(&OWNER, this_process()) && threads() > 1 {
        // Few items of much work are shared one by one, many in pieces.
        let size = items.len().div_ceil(PIECES_EACH * threads());
        let pieces: Vec<Mutex<Vec<R>>> = items.chunks(size).map(|_| Mutex::default()).collect();
        on_all_threads(pieces.len(), &|i| {
            let found = || items.iter().skip(i * size).take(size).map(&one).collect();
            *locked(&pieces[i]) = match &stop {
                Some(_) => effort::heeding(stop.as_ref(), found),
                None => found(),
            };
        });
        let found = pieces.into_iter().map(|p| p.into_inner().unwrap_or_else(PoisonError::into_inner));
        return found.flatten().collect();
    }
    items.iter().map(one).collect()
}

/// What comes of each item that is given away, in their order.
#[cfg_attr(
    feature = "threads",
    expect(clippy::missing_panics_doc, reason = "each item is given to one thread")
)]
pub fn map_each<T: Send, R: Send>(items: Vec<T>, one: impl Fn(T) -> R + Sync + Send) -> Vec<R> {
    #[cfg(feature = "threads")]
    {
        let items: Vec<Mutex<Option<T>>> = items.into_iter().map(|item| Mutex::new(Some(item))).collect();
        map(&items, |item| {
            let item = locked(item).take().expect("each item is taken once");
            one(item)
        })
    }
    #[cfg(not(feature = "threads"))]
    items.into_iter().map(one).collect()
}

/// Pieces of many items for each thread: one that is done early takes what others have not begun.
#[cfg(feature = "threads")]
const PIECES_EACH: usize = 16;

/// Does work that has numbers. All work of the program comes through here, so that what shares it among threads is
/// compiled once and not for each kind of work.
#[cfg(feature = "threads")]
fn on_all_threads(count: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().for_each(work);
}

/// A lock that nobody holds for longer than a value takes to be moved, so that a panic leaves nothing half done.
#[cfg(feature = "threads")]
fn locked<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How long a part takes, about.
const PART: Duration = Duration::from_millis(50);
/// Most items of a part, whatever threads there are.
const AT_A_TIME: usize = 1 << 12;

/// Items in parts, each of which takes about as long. Whoever does much work on the threads that all share does it
/// part by part: several of them take turns, so that none waits until another is done.
pub struct Parts<'i, I> {
    rest: &'i [I],
    size: usize,
}

impl<'i, I> Parts<'i, I> {
    /// Of these items.
    pub fn new(all: &'i [I]) -> Self {
        Self { rest: all, size: 2 * threads() }
    }

    /// The same, but the first part has so many items at least: where what comes later needs less work if much is known.
    #[must_use]
    pub fn from_many(self, items: usize) -> Self {
        Self { size: self.size.max(items), ..self }
    }

    /// The next part, if anything is left.
    pub fn take(&mut self) -> Option<&'i [I]> {
        let (part, rest) = self.rest.split_at(self.size.min(self.rest.len()));
        self.rest = rest;
        (!part.is_empty()).then_some(part)
    }

    /// The item that comes after the last part.
    pub fn upcoming(&self) -> Option<&'i I> {
        self.rest.first()
    }

    /// Makes the next one as large as it should be, after what the last one took.
    pub fn adapt(&mut self, took: Duration) {
        let least = threads();
        let larger = if took < PART / 2 { self.size * 2 } else { self.size };
        self.size = if took > PART * 2 { self.size / 2 } else { larger }.clamp(least, AT_A_TIME.max(least));
    }
}

/// The number of this process. In a browser there are no processes, and asking for one would end the work.
pub(crate) fn this_process() -> u32 {
    if cfg!(all(target_family = "wasm", target_os = "unknown")) { 1 } else { process::id() }
}

/// How many threads share the work.
pub(crate) fn threads() -> usize {
    #[cfg(feature = "threads")]
    return rayon::current_num_threads();
    #[cfg(not(feature = "threads"))]
    1
}

/// Whether threads wait for work in this process, or will as soon as there is some.
#[cfg(feature = "threads")]
fn has_threads(owner: &AtomicU32, here: u32) -> bool {
    // A thread of a pool that runs is proof enough: threads do not survive a fork.
    rayon::current_thread_index().is_some()
        || match owner.compare_exchange(0, here, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => true,
            Err(owner) => owner == here,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(feature = "threads")]
    fn the_pool_belongs_to_the_process_that_used_it_first() {
        let owner = AtomicU32::new(0);
        assert!(has_threads(&owner, 7) && has_threads(&owner, 7));
        assert!(!has_threads(&owner, 8), "a child of process 7");
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert!(pool.install(|| has_threads(&owner, 8)), "a child with a pool of its own");
    }

    #[test]
    fn results_stand_in_the_order_of_the_items() {
        let items: Vec<usize> = (0..1000).collect();
        assert_eq!(map(&items, |i| i + 1), map_each(items.clone(), |i| i + 1));
        assert!(map(&items, |i| i + 1).is_sorted());
    }

    #[test]
    fn nobody_uses_the_pool_without_asking() {
        let mut folders = vec![std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src"))];
        while let Some(folder) = folders.pop() {
            for path in std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
                if path.is_dir() {
                    folders.push(path);
                } else if !path.ends_with("src/parallel.rs") {
                    let text = std::fs::read_to_string(&path).unwrap_or_default();
                    for call in ["rayon::prelude", "rayon::join", "rayon::scope", "rayon::spawn"] {
                        assert!(!text.contains(call), "{}: use wavecast::parallel", path.display());
                    }
                }
            }
        }
    }
}
