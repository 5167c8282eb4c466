//! Quotients and remainders as compilers write them, held against the PTX as it runs.

use std::path::PathBuf;
use std::process::Command;

/// A kernel that loads `a` at an element that instructions put into `%r9`, for its thread `%r1`.
fn checked(name: &str, instructions: &str) -> (String, String) {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 o)\n{{\n\
         .reg .b32 %r<40>; .reg .b64 %rd<16>; .reg .f32 %f<9>;\n\
         ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [o]; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x;\n\
         mov.u32 %r5, %tid.x; mad.lo.s32 %r1, %r3, %r4, %r5;\n\
         {instructions}\n\
         mul.wide.s32 %rd3, %r9, 4; add.s64 %rd4, %rd1, %rd3; ld.global.f32 %f1, [%rd4];\n\
         mul.wide.s32 %rd5, %r1, 4; add.s64 %rd6, %rd2, %rd5; st.global.f32 [%rd6], %f1;\nret;\n}}\n"
    );
    let path: PathBuf = [env!("CARGO_TARGET_TMPDIR"), &format!("{name}.ptx")].iter().collect();
    std::fs::write(&path, text).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_wavecast"))
        .args([
            "read",
            path.to_str().unwrap(),
            "--arg",
            "0=a",
            "--arg",
            "1=o",
            "--grid",
            "16",
            "--block",
            "64",
        ])
        .args(["--check", "200"])
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{name}\n{out}\n{err}");
    (out.into_owned(), err.into_owned())
}

/// C cuts quotients towards zero: for what may be negative compilers multiply, and add the sign.
#[test]
fn quotients_of_what_may_be_negative_are_read() {
    for (name, instructions) in [
        (
            "negative_third",
            "add.s32 %r6, %r1, -3; mul.hi.s32 %r7, %r6, 1431655766; shr.u32 %r8, %r7, 31; add.s32 %r9, %r7, %r8; \
             add.s32 %r9, %r9, 1;",
        ),
        (
            "negative_fifth",
            "add.s32 %r6, %r1, -13; mul.hi.s32 %r7, %r6, 1717986919; shr.u32 %r8, %r7, 31; shr.s32 %r10, %r7, 1; \
             add.s32 %r9, %r10, %r8; add.s32 %r9, %r9, 3;",
        ),
        (
            "negative_remainder",
            "add.s32 %r6, %r1, -3; mul.hi.s32 %r7, %r6, 1717986919; shr.u32 %r8, %r7, 31; shr.s32 %r10, %r7, 1; \
             add.s32 %r10, %r10, %r8; mul.lo.s32 %r11, %r10, 5; sub.s32 %r12, %r6, %r11; add.s32 %r9, %r12, 5;",
        ),
    ] {
        let (_, said) = checked(name, instructions);
        assert!(said.contains("threads do the same"), "{name}: {said}");
    }
}

/// A remainder of what wraps is still less than what it was divided by.
#[test]
fn remainders_of_what_wraps_keep_their_bounds() {
    let (document, said) = checked("hash", "mul.lo.s32 %r6, %r1, -1640531535; rem.u32 %r9, %r6, 1009;");
    assert!(document.contains("a: {dtype: f32, size: 1009}"), "{document}");
    assert!(said.contains("threads do the same"), "{said}");
}
