//! Counting allocates no memory per row of an array, and none per thread.
//!
//! One test only in this program: others beside it would be counted too.

#![allow(unsafe_code, reason = "a counting allocator has to be one")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

use wavecast::expr::{Coord, Dim, Form};
use wavecast::footprint::{Engine, Piece, Query, count_with};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: everything is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations while `engine` counts `rows` rows of 64 threads under a star of seven accesses, in rows
/// of `pitch` doubles, `quotient` threads to a column.
fn allocations(engine: Engine, rows: i64, pitch: i64, quotient: i64) -> u64 {
    let (x, y, z) = (Coord::Thread(Dim::X), Coord::Thread(Dim::Y), Coord::Thread(Dim::Z));
    let plane = pitch * (rows + 2);
    let column = Form::coord(x).floor_div(&quotient).unwrap();
    let at = |offset: i64| {
        let row = Form::coord(y).times(&pitch).unwrap();
        let element = Form::total(vec![column.clone(), row, Form::coord(z).times(&plane).unwrap()]).unwrap();
        element.plus(&Form::int(offset)).unwrap().times(&8).unwrap()
    };
    let ranges = vec![(x, 0, 63), (y, 1, rows), (z, 1, 4)];
    let pieces = [0, 1, -1, pitch, -pitch, plane, -plane].map(|offset| Piece {
        array: 0,
        ranges: ranges.clone().into(),
        when: None,
        address: at(offset).into(),
        width: 8,
    });
    let query = Query { pieces: pieces.to_vec(), line: 32 };
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    count_with(&query, engine).unwrap();
    ALLOCATIONS.load(Ordering::Relaxed) - before
}

#[test]
fn allocations_do_not_grow_with_rows() {
    for (pitch, quotient) in [(128, 1), (129, 1), (128, 3), (129, 3)] {
        let of_linear = |rows| allocations(Engine::Linear, rows, pitch, quotient);
        assert_eq!(of_linear(10), of_linear(100_000), "linear, pitch {pitch}, x/{quotient}");
        assert!(of_linear(10) > 0, "the allocator does not count");
        // A list of intervals doubles now and then.
        let of_runs = |rows| allocations(Engine::Runs, rows, pitch, quotient);
        let (few, many) = (of_runs(10), of_runs(10_000));
        assert!(many <= few + 20, "runs, pitch {pitch}, x/{quotient}: {few} and {many}");
    }
}
