//! Each operation, in PTX that is parsed and run, against Rust's own integers.

use super::{Argument, EntryField, Machine, Sizes, Who};
use crate::ptx::syntax::parse;
use crate::random::Random;
use crate::space::{Block, Grid};

/// What an operation does with up to three words.
type Oracle = fn(u64, u64, u64) -> u64;

/// Operations on `A B C` into `D`, the registers that these stand for, and what they are. Names of registers say their
/// sizes: `r` 32 bits, `d` 64, `h` 16, `p` predicates.
const OPERATIONS: &[(&str, char, Oracle)] = &[
    ("add.s32 D, A, B", 'r', |a, b, _| low(i(a).wrapping_add(i(b)))),
    ("add.u64 D, A, B", 'd', |a, b, _| a.wrapping_add(b)),
    ("add.s16 D, A, B", 'h', |a, b, _| a.wrapping_add(b) & 0xffff),
    ("add.sat.s32 D, A, B", 'r', |a, b, _| low(i(a).saturating_add(i(b)))),
    ("sub.s32 D, A, B", 'r', |a, b, _| low(i(a).wrapping_sub(i(b)))),
    ("sub.s64 D, A, B", 'd', |a, b, _| a.wrapping_sub(b)),
    ("mul.lo.s32 D, A, B", 'r', |a, b, _| low(i(a).wrapping_mul(i(b)))),
    ("mul.lo.s64 D, A, B", 'd', |a, b, _| a.wrapping_mul(b)),
    ("mul.hi.s32 D, A, B", 'r', |a, b, _| ((i64::from(i(a)) * i64::from(i(b))) >> 32) as u64 & LOW),
    ("mul.hi.u32 D, A, B", 'r', |a, b, _| ((a & LOW) * (b & LOW)) >> 32),
    ("mul.hi.u64 D, A, B", 'd', |a, b, _| ((u128::from(a) * u128::from(b)) >> 64) as u64),
    ("mul.hi.s64 D, A, B", 'd', |a, b, _| ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64),
    ("mul.hi.u16 D, A, B", 'h', |a, b, _| ((a & 0xffff) * (b & 0xffff)) >> 16),
    ("mul.wide.s32 DD, AR, BR", 'd', |a, b, _| (i64::from(i(a)) * i64::from(i(b))) as u64),
    ("mul.wide.u32 DD, AR, BR", 'd', |a, b, _| (a & LOW) * (b & LOW)),
    ("mad.lo.s32 D, A, B, C", 'r', |a, b, c| low(i(a).wrapping_mul(i(b)).wrapping_add(i(c)))),
    ("mad.lo.s64 D, A, B, C", 'd', |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
    ("mad.wide.s32 DD, AR, BR, CD", 'd', |a, b, c| {
        (i64::from(i(a)) * i64::from(i(b))).wrapping_add(c as i64) as u64
    }),
    ("mad.wide.u32 DD, AR, BR, CD", 'd', |a, b, c| ((a & LOW) * (b & LOW)).wrapping_add(c)),
    ("mad.hi.u32 D, A, B, C", 'r', |a, b, c| (((a & LOW) * (b & LOW)) >> 32).wrapping_add(c) & LOW),
    ("mul24.lo.u32 D, A, B", 'r', |a, b, _| ((a & 0xff_ffff) * (b & 0xff_ffff)) & LOW),
    ("mul24.lo.s32 D, A, B", 'r', |a, b, _| low((i(a) << 8 >> 8).wrapping_mul(i(b) << 8 >> 8))),
    ("sad.s32 D, A, B, C", 'r', |a, b, c| low((i(c)).wrapping_add(i(a).abs_diff(i(b)) as i32))),
    ("sad.u32 D, A, B, C", 'r', |a, b, c| low(i(c).wrapping_add((u(a)).abs_diff(u(b)) as i32))),
    ("div.s32 D, A, B", 'r', |a, b, _| if i(b) == 0 { LOW } else { low(i(a).wrapping_div(i(b))) }),
    ("div.u32 D, A, B", 'r', |a, b, _| u(a).checked_div(u(b)).map_or(LOW, u64::from)),
    (
        "div.s64 D, A, B",
        'd',
        |a, b, _| if b == 0 { u64::MAX } else { (a as i64).wrapping_div(b as i64) as u64 },
    ),
    ("rem.s32 D, A, B", 'r', |a, b, _| if i(b) == 0 { a & LOW } else { low(i(a).wrapping_rem(i(b))) }),
    ("rem.u64 D, A, B", 'd', |a, b, _| a.checked_rem(b).unwrap_or(a)),
    ("min.s32 D, A, B", 'r', |a, b, _| low(i(a).min(i(b)))),
    ("max.u32 D, A, B", 'r', |a, b, _| (a & LOW).max(b & LOW)),
    ("max.s64 D, A, B", 'd', |a, b, _| (a as i64).max(b as i64) as u64),
    ("neg.s32 D, A", 'r', |a, _, _| low(i(a).wrapping_neg())),
    ("abs.s32 D, A", 'r', |a, _, _| low(i(a).wrapping_abs())),
    ("abs.s64 D, A", 'd', |a, _, _| (a as i64).wrapping_abs() as u64),
    ("and.b32 D, A, B", 'r', |a, b, _| a & b & LOW),
    ("or.b64 D, A, B", 'd', |a, b, _| a | b),
    ("xor.b64 D, A, B", 'd', |a, b, _| a ^ b),
    ("not.b32 D, A", 'r', |a, _, _| !a & LOW),
    ("cnot.b32 D, A", 'r', |a, _, _| u64::from(a & LOW == 0)),
    ("shl.b32 D, A, B", 'r', |a, b, _| u(a).checked_shl(u(b)).unwrap_or(0).into()),
    ("shl.b64 DD, AD, BR", 'd', |a, b, _| a.checked_shl(u(b)).unwrap_or(0)),
    ("shr.u32 D, A, B", 'r', |a, b, _| u(a).checked_shr(u(b)).unwrap_or(0).into()),
    ("shr.s32 D, A, B", 'r', |a, b, _| low(i(a) >> u(b).min(31))),
    ("shr.s64 DD, AD, BR", 'd', |a, b, _| (a as i64 >> u(b).min(63)) as u64),
    ("shr.b16 DH, AH, BR", 'h', |a, b, _| (a as u16).checked_shr(u(b)).unwrap_or(0).into()),
    ("shf.l.wrap.b32 D, A, B, C", 'r', |a, b, c| ((a & LOW) | b << 32) << (c & 31) >> 32),
    ("shf.r.clamp.b32 D, A, B, C", 'r', |a, b, c| ((a & LOW) | b << 32) >> (c & LOW).min(32) & LOW),
    ("lop3.b32 D, A, B, C, 0xe8", 'r', |a, b, c| (a & b | a & c | b & c) & LOW),
    ("lop3.b32 D, A, B, C, 0x96", 'r', |a, b, c| (a ^ b ^ c) & LOW),
    ("bfe.u32 D, A, B, C", 'r', |a, b, c| field(a & LOW, 32, b, c, false)),
    ("bfe.s32 D, A, B, C", 'r', |a, b, c| field(a & LOW, 32, b, c, true) & LOW),
    ("bfe.u64 DD, AD, BR, CR", 'd', |a, b, c| field(a, 64, b, c, false)),
    ("bfe.s64 DD, AD, BR, CR", 'd', |a, b, c| field(a, 64, b, c, true)),
    ("bfi.b32 D, A, B, C, 7", 'r', |a, b, c| {
        (0..7).fold(b & LOW, |word, bit| put(word, (c & 255) + bit, a >> bit & 1, 32))
    }),
    ("prmt.b32 D, A, B, 0x3210", 'r', |a, _, _| a & LOW),
    ("prmt.b32 D, A, B, 0x5410", 'r', |a, b, _| (a & 0xffff) | (b & 0xffff) << 16),
    ("prmt.b32 D, A, B, 0xbbbb", 'r', |a, _, _| if a >> 31 & 1 != 0 { LOW } else { 0 }),
    ("popc.b32 D, A", 'r', |a, _, _| u(a).count_ones().into()),
    ("popc.b64 DR, AD", 'r', |a, _, _| a.count_ones().into()),
    ("clz.b32 D, A", 'r', |a, _, _| u(a).leading_zeros().into()),
    ("brev.b32 D, A", 'r', |a, _, _| u(a).reverse_bits().into()),
    ("bfind.u32 D, A", 'r', |a, _, _| u(a).checked_ilog2().map_or(LOW, u64::from)),
    ("bfind.shiftamt.u32 D, A", 'r', |a, _, _| u(a).checked_ilog2().map_or(LOW, |n| u64::from(31 - n))),
    ("bfind.s32 D, A", 'r', |a, _, _| {
        u((if i(a) < 0 { !i(a) } else { i(a) }) as u64).checked_ilog2().map_or(LOW, u64::from)
    }),
    ("dp4a.s32.u32 D, A, B, C", 'r', |a, b, c| {
        let product = |k: usize| i32::from(a.to_le_bytes()[k] as i8) * i32::from(b.to_le_bytes()[k]);
        low((0..4).map(product).fold(i(c), i32::wrapping_add))
    }),
    ("setp.lt.s32 P, A, B", 'p', |a, b, _| u64::from(i(a) < i(b))),
    ("setp.hs.u32 P, A, B", 'p', |a, b, _| u64::from(u(a) >= u(b))),
    ("setp.ne.s64 P, AD, BD", 'p', |a, b, _| u64::from(a != b)),
    ("setp.ge.u64 P, AD, BD", 'p', |a, b, _| u64::from(a >= b)),
    ("setp.gt.and.s32 P, A, B, Q", 'p', |a, b, c| u64::from(i(a) > i(b) && c & 1 != 0)),
    ("setp.eq.or.s32 P, A, B, !Q", 'p', |a, b, c| u64::from(u(a) == u(b) || c & 1 == 0)),
    ("set.lt.u32.s32 D, A, B", 'r', |a, b, _| if i(a) < i(b) { LOW } else { 0 }),
    ("selp.b32 D, A, B, Q", 'r', |a, b, c| if c & 1 != 0 { a & LOW } else { b & LOW }),
    ("slct.s32.s32 D, A, B, C", 'r', |a, b, c| if i(c) >= 0 { a & LOW } else { b & LOW }),
    ("cvt.s64.s32 DD, AR", 'd', |a, _, _| i64::from(i(a)) as u64),
    ("cvt.u64.u32 DD, AR", 'd', |a, _, _| a & LOW),
    ("cvt.u32.u64 DR, AD", 'r', |a, _, _| a & LOW),
    ("cvt.s32.s16 DR, AH", 'r', |a, _, _| low(i32::from(a as i16))),
    ("cvt.u32.u8 D, A", 'r', |a, _, _| a & 255),
    ("cvt.s32.s8 D, A", 'r', |a, _, _| low(i32::from(a as i8))),
    ("cvt.s8.s32 D, A", 'r', |a, _, _| low(i32::from(a as i8))),
    ("cvt.sat.u8.s32 D, A", 'r', |a, _, _| i(a).clamp(0, 255) as u64),
    ("cvt.sat.s16.s32 D, A", 'r', |a, _, _| low(i(a).clamp(-32768, 32767))),
    ("{ .reg .f64 %x; cvt.rn.f64.s32 %x, A; cvt.rzi.s32.f64 D, %x; }", 'r', |a, _, _| a & LOW),
    ("{ .reg .f32 %x; cvt.rn.f32.u32 %x, A; mov.b32 D, %x; }", 'r', |a, _, _| (u(a) as f32).to_bits().into()),
    ("{ .reg .f32 %x; mov.b32 %x, A; cvt.rmi.s32.f32 D, %x; }", 'r', |a, _, _| {
        low(f32::from_bits(u(a)).floor() as i32)
    }),
    ("{ .reg .b32 %x, %y; mov.b64 {%x, %y}, AD; mov.b64 DD, {%y, %x}; }", 'd', |a, _, _| a.rotate_left(32)),
    ("{ .reg .b16 %x, %y; mov.b32 {%x, %y}, A; mov.b32 D, {%y, %x}; }", 'r', |a, _, _| {
        u(a).rotate_left(16).into()
    }),
    ("{ .reg .u32 %x; add.cc.u32 %x, A, B; addc.u32 D, C, 0; }", 'r', |a, b, c| {
        u(c).wrapping_add(u32::from(u(a).checked_add(u(b)).is_none())).into()
    }),
    ("{ .reg .u32 %x; sub.cc.u32 %x, A, B; subc.u32 D, C, 0; }", 'r', |a, b, c| {
        u(c).wrapping_sub(u32::from(u(a) < u(b))).into()
    }),
];

const LOW: u64 = 0xffff_ffff;

fn i(word: u64) -> i32 {
    word as i32
}

fn u(word: u64) -> u32 {
    word as u32
}

fn low(value: i32) -> u64 {
    u64::from(value as u32)
}

/// `bfe` as the manual of PTX has it, bit by bit.
fn field(a: u64, bits: u64, from: u64, count: u64, signed: bool) -> u64 {
    let (from, count, msb) = (from & 255, count & 255, bits - 1);
    let bit = |at: u64| a >> at & 1 != 0;
    let sign = signed && count > 0 && bit((from + count - 1).min(msb));
    let one = |at: u64| if at < count && from + at <= msb { bit(from + at) } else { sign };
    (0..64).map(|at| u64::from(one(at)) << at).sum()
}

fn put(word: u64, at: u64, bit: u64, bits: u64) -> u64 {
    if at >= bits { word } else { word & !(1 << at) | bit << at }
}

/// A word at an edge, a small one, or any.
fn word(random: &mut Random) -> u64 {
    let any = random.next();
    match random.below(8) {
        0 => 0,
        1 => u64::MAX,
        2 => 1 << (any & 63),
        3 => (1 << (any & 63)) - 1,
        4 => 0x8000_0000_8000_8000,
        5 => any & 63,
        _ => any >> (random.next() & 31),
    }
}

/// A kernel that does one operation for each thread.
fn text(operation: &str, kind: char) -> String {
    // Names for a size of their own, then those for the size of the operation.
    let mut body = operation.to_owned();
    for (size, register) in [('R', "%r"), ('D', "%d"), ('H', "%h")] {
        for (name, number) in [('A', 1), ('B', 2), ('C', 3), ('D', 9)] {
            body = body.replace(&format!("{name}{size}"), &format!("{register}{number}"));
        }
    }
    let own = if kind == 'p' { 'r' } else { kind };
    for (name, number) in [("A", 1), ("B", 2), ("C", 3), ("D", 9)] {
        for (before, after) in [(" ", ","), (" ", ";"), ("{", ","), (" ", "}")] {
            let form = format!("{before}{name}{after}");
            body = body.replace(&form, &format!("{before}%{own}{number}{after}"));
        }
        if let Some(start) = body.strip_suffix(&format!(" {name}")) {
            body = format!("{start} %{own}{number}");
        }
    }
    let body = body.replace(" P,", " %p2,").replace("!Q", "!%p1").replace(" Q", " %p1");
    let back = match kind {
        'r' => "cvt.u64.u32 %d9, %r9;",
        'h' => "cvt.u64.u16 %d9, %h9;",
        'p' => "selp.u64 %d9, 1, 0, %p2;",
        _ => "",
    };
    let end = if body.ends_with('}') { "" } else { ";" };
    format!(
        ".version 8.0 .target sm_80 .address_size 64
        .visible .entry k(.param .u64 in, .param .u64 out) {{
        .reg .b64 %d<20>; .reg .b32 %r<20>; .reg .b16 %h<20>; .reg .pred %p<4>;
        mov.u32 %r10, %ctaid.x; mov.u32 %r11, %ntid.x; mov.u32 %r12, %tid.x; mad.lo.s32 %r10, %r10, %r11, %r12;
        ld.param.u64 %d10, [in]; mad.wide.u32 %d10, %r10, 24, %d10;
        ld.param.u64 %d11, [out]; mad.wide.u32 %d11, %r10, 8, %d11;
        ld.global.u64 %d1, [%d10]; ld.global.u64 %d2, [%d10+8]; ld.global.u64 %d3, [%d10+16];
        cvt.u32.u64 %r1, %d1; cvt.u32.u64 %r2, %d2; cvt.u32.u64 %r3, %d3;
        cvt.u16.u64 %h1, %d1; cvt.u16.u64 %h2, %d2; cvt.u16.u64 %h3, %d3;
        and.b64 %d12, %d3, 1; setp.ne.s64 %p1, %d12, 0;
        {body}{end}
        {back}
        st.global.u64 [%d11], %d9; ret; }}"
    )
}

fn hold(cases: usize) {
    let mut random = Random::new(7);
    for &(operation, kind, oracle) in OPERATIONS {
        let text = text(operation, kind);
        let module =
            parse(&text, Default::default()).unwrap_or_else(|e| panic!("{operation}: {e:?}\n{text}"));
        let words: Vec<u64> = (0..3 * cases).map(|_| word(&mut random)).collect();
        let data = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let fields = vec![EntryField::new("in").with_data(data), EntryField::new("out")];
        let pointer = |field| Argument::Pointer { field, offset: 0 };
        let blocks = i64::try_from(cases / 128).unwrap();
        let sizes = Sizes { block: Block::known([128, 1, 1]), grid: Grid::known([blocks, 1, 1]), shared: 0 };
        let machine = Machine::new(&module, "k", &[pointer(0), pointer(1)], fields, &sizes).unwrap();
        let mut run = machine.start(u64::MAX);
        for block in 0..blocks {
            let done = run.block([block, 0, 0].into(), Who::All, &mut |_, _| {});
            done.unwrap_or_else(|e| panic!("{operation}: {e}"));
        }
        for (case, given) in (0..).zip(words.chunks(3)) {
            let found = run.word(1, 8 * case);
            let wanted = oracle(given[0], given[1], given[2]);
            let wanted = if kind == 'h' { wanted & 0xffff } else { wanted };
            assert_eq!(found, Some(wanted), "{operation} of {given:x?}: {found:x?}, not {wanted:x}");
        }
    }
}

#[test]
fn operations_are_those_of_wrapping_integers() {
    hold(1024);
}

/// Ten million cases.
#[test]
#[ignore = "takes a minute; run it where operations changed"]
fn operations_are_those_of_wrapping_integers_in_millions_of_cases() {
    hold(128 * 1024);
}
