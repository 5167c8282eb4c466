//! Small texts, each about one thing.

use super::*;
use crate::expr::Dim;

/// An entry with these statements.
fn entry(statements: &str) -> Function {
    let text = format!(
        ".version 8.7\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 k_param_0)\n{{\n{statements}\n}}\n"
    );
    parse(&text, Default::default()).unwrap().functions.remove(0)
}

fn refused(text: &str) -> String {
    let error = parse(text, Default::default()).unwrap_err();
    assert!(error.help.is_some(), "{error:?}");
    error.message
}

const R: fn(u32) -> Operand = |n| Operand::Register(RegisterId(n));

#[test]
fn an_instruction_has_name_modifiers_and_operands() {
    let k = entry(
        ".reg .b64 %rd<4>; .reg .f32 %f<9>; .reg .pred %p<2>;\n@!%p1 ld.global.nc.L2::128B.v2.f32 {%f1, _}, [%rd3+-16];",
    );
    let [load] = &k.instructions[..] else { panic!("{k:?}") };
    assert_eq!(load.guard, Some(Guard { register: RegisterId(0), negated: true }));
    assert_eq!(load.full_name(), "ld.global.nc.L2::128B.v2.f32");
    assert_eq!(load.line, 7);
    assert_eq!(load.operands[0], Operand::Vector(vec![R(1), Operand::Nothing]));
    assert_eq!(load.operands[1], Operand::Address(Base::Register(RegisterId(2)), -16));
    assert_eq!(load.ty(), Type::named("f32"));
    let names: Vec<_> = k.registers.iter().map(|r| r.name.as_str()).collect();
    assert_eq!(names, ["%p1", "%f1", "%rd3"]);
}

#[test]
fn numbers_of_all_notations() {
    let k = entry(
        ".reg .b32 %r<2>;\nfoo %r1, 10, 0x1F, 0b101, 017, 4294967295U, -1, 0f3F800000, -0d3FF0000000000000, 1.5, -2.5e+1, 0xffffffffffffffff;",
    );
    let expected = [10, 31, 5, 15, 4_294_967_295, -1].map(Operand::Integer);
    assert_eq!(k.instructions[0].operands[1..7], expected);
    let floats = [
        Operand::Single(0x3f80_0000),
        Operand::Double((-1.0_f64).to_bits()),
        Operand::Double(1.5_f64.to_bits()),
        Operand::Double((-25.0_f64).to_bits()),
        Operand::Integer(-1),
    ];
    assert_eq!(k.instructions[0].operands[7..], floats);
}

#[test]
fn what_the_machine_fills() {
    let k = entry(
        ".reg .b32 %r<2>; .reg .b32 %tx;\nadd.s32 %r1, %ntid.y, %tx; mov.u32 %r1, %laneid; mov.u32 %r1, %lanemask_lt; mov.b32 %r1, %clock;",
    );
    assert_eq!(k.instructions[0].operands[1], Operand::Special(Special::Ntid(Dim::Y)));
    assert_eq!(k.instructions[1].operands[1], Operand::Special(Special::LaneId));
    assert_eq!(k.instructions[2].operands[1], Operand::Machine("%lanemask_lt".to_owned()));
}

#[test]
fn labels_are_numbers_of_instructions() {
    let k = entry(
        ".reg .pred %p<2>; .reg .b32 %r<2>;
        $L1: mov.u32 %r1, 0;
        { .reg .pred p; $L2: .pragma \"nounroll\"; @p bra $L2; @p bra $L3; }
        { $L2: bra.uni $L2; }
        $L3: brx.idx %r1, $T;
        $T: .branchtargets $L1, $L3;
        $L4:",
    );
    let target = |i: usize| k.instructions[i].operands.last().unwrap().clone();
    assert_eq!([target(1), target(2), target(3)], [1, 4, 3].map(Operand::Label));
    assert_eq!(target(4), Operand::List(vec![Operand::Label(0), Operand::Label(4)]));
    assert!(k.labels.contains(&("$L4".to_owned(), 5)));
}

#[test]
fn names_in_braces_are_others() {
    let k = entry(".reg .b32 %r<2>; mov.u32 %r1, 0; { .reg .b64 %r1; mov.u64 %r1, 0; } mov.u32 %r1, 2;");
    let first = |i: usize| k.instructions[i].operands[0].clone();
    assert_eq!(first(0), first(2));
    assert_ne!(first(0), first(1));
}

#[test]
fn variables_parameters_and_blocks() {
    let text = ".version 7.0 .target sm_70, texmode_independent .address_size 64
        .file 1 \"a.cu\", 5, 6
        .extern .shared .align 16 .b8 open[];
        .const .align 4 .f32 c[2][3] = {{0f3F800000, 1.0}, {2, -3}};
        .global .u64 p = generic(c)+4;
        .extern .func (.param .b32 r) f (.param .b64 a, .param .align 8 .b8 s[24]);
        .weak .entry k(.param .u64 .ptr .global .align 16 a, .param .align 4 .b8 s[12])
        .maxntid 256, 2
        .minnctapersm 2
        .reqntid 32, 4, 2 .maxnreg 64
        {
            .shared .align 4 .b8 tile[4224]; .local .v4 .f32 depot[2];
            .loc 1 17 3, function_name $L0, inlined_at 1 2 3
            { .param .b64 param0; st.param.b64 [param0+8], 3; call.uni (retval0), f, (param0); }
            mov.u64 open, tile+4;
        }
        .section .debug_str { .b8 1,2 }";
    let module = parse(text, Default::default()).unwrap();
    assert_eq!((module.version, module.target.len(), module.files.len()), ((7, 0), 2, 1));
    let [open, c, p] = &module.variables[..] else { panic!() };
    assert_eq!((open.count, open.bytes(), open.linkage), (None, 0, Linkage::Extern));
    assert_eq!((c.bytes(), c.initial.len(), c.initial[3].clone()), (24, 4, Initial::Integer(-3)));
    assert_eq!(p.initial, [Initial::Other("generic(c)+4".to_owned())]);
    assert!(!module.functions[0].body && module.entries().count() == 1);
    let k = module.function("k").unwrap();
    assert_eq!(k.params[0].pointer, Some((Some(StateSpace::Global), 16)));
    assert_eq!((k.params[1].bytes(), k.params[1].align), (12, 4));
    assert_eq!((k.required_block, k.largest_block), (Some([32, 4, 2]), Some([256, 2, 1])));
    assert_eq!(k.variable("tile").unwrap().bytes(), 4224);
    assert_eq!(k.variable("depot").unwrap().bytes(), 32);
    assert_eq!(k.instructions[0].source, Some(SourceLine { file: 1, line: 17 }));
    let list = |name: &str| Operand::List(vec![Operand::Symbol(name.to_owned(), 0)]);
    assert_eq!(k.instructions[1].operands[2], list("param0"));
    assert_eq!(k.instructions[2].operands[1], Operand::Symbol("tile".to_owned(), 4));
}

#[test]
fn what_is_not_known_does_not_stop() {
    let k = entry(
        ".reg .b32 %r<5>; .reg .b64 %rd<5>;
        brandnew.op::x.32x32b.b16 {%r1, %r2}, [%rd1, {%r3, %r4}], (1 << 3), 3;
        .unheard 4; shfl.sync.bfly.b32 %r1|%r2, %r3, 16, 31, -1;",
    );
    assert_eq!(k.instructions[0].operands[2], Operand::Other("(1 << 3)".to_owned()));
    assert!(matches!(k.instructions[0].operands[1], Operand::Brackets(_)));
    assert!(matches!(k.instructions[1].operands[0], Operand::Pair(..)));
}

#[test]
fn what_is_wrong_is_said() {
    let head = ".version 8.0 .target sm_80 .address_size 64 .entry k() {";
    assert!(refused("").contains("`.version`"));
    assert!(refused("\u{7f}ELF").contains("no place in PTX"));
    assert!(refused(&format!("{head} bra X; }}")).contains("no label `X`"));
    assert!(refused(&format!("{head} @%p1 ret; }}")).contains("no register `%p1`"));
    assert!(refused(&format!("{head} X: ret; X: ret; }}")).contains("twice"));
    assert!(refused(&format!("{head} add.s32 1, 2")).contains("the end"));
    assert!(refused(&format!("{head} add.s32 1 2; }}")).contains("`,`"));
    assert!(refused(&format!("{head} x {} }}", "{".repeat(99))).contains("deeper"));
    assert!(refused(&format!("{head} }} .entry k() {{ }}")).contains("two functions"));
}
