//! Files that hold a kernel in a form that is not read: what they are, and how they become PTX.

use std::path::Path;

use super::failure::Failure;

/// Refuses source texts by their endings.
pub(super) fn refuse_source(path: &str) -> Result<(), Failure> {
    let Some(ending) = Path::new(path).extension().and_then(|e| e.to_str()) else { return Ok(()) };
    let help = match ending {
        "cu" | "cuh" => compilers(path),
        "cl" => format!(
            "compile it for NVIDIA's GPUs, for example with \
             `clang -S -x cl -cl-std=CL2.0 -target nvptx64-nvidia-nvcl -march=sm_80 {path} -o {}`",
            ptx(path)
        ),
        "hip" => "HIP is compiled for AMD's GPUs, which have no PTX; where the text is CUDA as well, compile it as a .cu \
                  file"
            .to_owned(),
        _ => return Ok(()),
    };
    if !Path::new(path).exists() {
        return Ok(()); // It cannot be opened, which is what has to be said.
    }
    let message = format!("{path} is source text; compiled kernels (PTX) and kernel documents are read");
    Err(Failure::message("source-text", message, Some(&help)))
}

/// The commands that make PTX of CUDA, each in a line of its own.
fn compilers(path: &str) -> String {
    let ptx = ptx(path);
    format!(
        "compile it, and give {ptx}; no GPU is needed. With CUDA:\n    \
         nvcc -ptx -arch=sm_80 {path} -o {ptx}\n  \
         without it, with NVIDIA's compiler from PyPI (python3 -m pip install 'wavecast[cuda]'):\n    \
         python3 -c \"import wavecast.cuda as w; print(w.compile('{path}', arch=80).ptx)\" > {ptx}\n  \
         or with clang:\n    \
         clang -S --cuda-device-only --cuda-gpu-arch=sm_80 {path} -o {ptx}"
    )
}

fn ptx(path: &str) -> String {
    Path::new(path).with_extension("ptx").display().to_string()
}

/// Refuses PTX where documents alone are read: nothing says there how it is launched.
pub(super) fn bare_ptx(path: &str) -> Failure {
    let document = Path::new(path).with_extension("yaml");
    let help = format!(
        "write one: `wavecast read {path} --entry NAME --arg NUMBER=VALUE -o {}`; or one with `code`, as `wavecast help ptx` has it",
        document.display()
    );
    let message =
        format!("{path} is PTX, and a kernel document is needed here, which says how it is launched");
    Failure::message("no-document", message, Some(&help))
}

/// What a file is that begins with these bytes, if it is code for machines, and what helps.
pub(super) fn machine_code(path: &str, bytes: &[u8]) -> Option<Failure> {
    /// The machine of ELF files for NVIDIA's GPUs.
    const CUDA: [u8; 2] = [190, 0];
    let kept = || {
        let ptx = ptx(path);
        format!(
            "`cuobjdump -ptx {path}` shows the PTX that is kept in it, if there is some: put it into {ptx}, or compile with `nvcc -ptx`"
        )
    };
    let (what, help) = match bytes {
        [0x7f, b'E', b'L', b'F', ..] if bytes.get(18..20) == Some(&CUDA) => (
            "a cubin: instructions of one GPU, without PTX",
            format!(
                "compile the kernel to PTX instead: `nvcc -ptx` in the place of `nvcc -cubin`, and give {}",
                ptx(path)
            ),
        ),
        [0x7f, b'E', b'L', b'F', ..] => ("a program or an object file", kept()),
        [0x50, 0xed, 0x55, 0xba, ..] => ("a fatbin: code for several GPUs", kept()),
        [b'B', b'C', 0xc0, 0xde, ..] => (
            "LLVM's bitcode",
            format!("compile it on: `llc -march=nvptx64 -mcpu=sm_80 {path} -o {}`", ptx(path)),
        ),
        _ => return None,
    };
    let message = format!("{path} is {what}; compiled kernels are read as PTX");
    Some(Failure::message("machine-code", message, Some(&help)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machine_code_is_known_by_its_first_bytes() {
        let mut elf = b"\x7fELF\x02\x01\x01".to_vec();
        elf.resize(64, 0);
        elf[18] = 62;
        let message = |bytes: &[u8]| {
            machine_code("k.bin", bytes).map(|f| f.into_faults()[0].diagnostics[0].message.clone())
        };
        assert!(message(&elf).unwrap().contains("object file"));
        elf[18] = 190;
        assert!(message(&elf).unwrap().contains("cubin"));
        assert!(message(b"\x50\xed\x55\xba\x01\x00\x10\x00").unwrap().contains("fatbin"));
        assert!(message(b"BC\xc0\xde5").unwrap().contains("bitcode"));
        assert_eq!(message(b"//\n.version 8.0"), None);
        assert_eq!(message(b"\x7fEL"), None);
    }
}
