//! Documents may call things what C, C++, CUDA, HIP and `OpenCL` call otherwise, and what emitted programs call
//! their own parts: programs of all three languages compile without a warning and check themselves.

mod oclgrind;
mod played;

use std::path::Path;
use std::process::Command;

use wavecast::emit::Language;
use wavecast::kernel::Kernel;

/// What fields are called: keywords, types, functions, macros, parts of programs, and names in one another.
const NASTY: &str = "wall_temp total_in in out block grid fold total all_ total_ total_float2 all_float2 all_float4 \
    float float2 float4 double2 half half2 uint uchar4 long4 longlong2 bool int signed register restrict typeof \
    done_a done_ a host_a host_ reference reference_a table_jump table_ jump_ v1 v1_0 v1_1 v12 sum sum0 last last0 last1 \
    tid tidx lidy bidz bdimx gdimy in0 in1 w wx start sink shared real index_t int64 uint64 how sums lasts bid from to \
    kernel global local constant generic private uniform pipe image2d_t sampler_t event_t vec_step read_only \
    threadIdx blockIdx blockDim gridDim warpSize atomicAdd atomic_add barrier get_local_id get_global_id dim3 \
    floor_div floor_mod lesser greater my_floor_div floor_div_ lesser_table_jump host_lesser \
    main printf exit malloc calloc memcpy log log2 sin y0 y1 j0 jn gamma index signal time clock select read dot \
    cross mix step_ distance normalize as_float convert_int rsqrt tex1D cudaMalloc hipMalloc clCreateBuffer \
    device device_run device_start must check fill reset compute allocate array arrays launch launches row head \
    measure settings number word usage list context queue buffers kernels build flush_memory chosen_device \
    KERNEL VARIANT COMPILER TEXT TEXT_OF ARRAYS LAUNCHES NULL EOF INT_MAX RAND_MAX M_PI NAN INFINITY CL_SUCCESS \
    CLK_LOCAL_MEM_FENCE CUDART_VERSION errno stdin stderr assert linux unix class template typename this new delete \
    namespace operator virtual friend explicit and or not xor concept requires co_await char8_t nullptr alignas \
    std size_t ptrdiff_t uintptr_t int8_t u8 L __ldg _Bool __a a__b a_ b_ X Y";

/// Names that a kernel document keeps for itself.
fn is_free(name: &str) -> bool {
    let text = format!(
        "wavecast: 1\nkernel: k\nfields: {{{name}: {{dtype: f32, size: 64}}}}\ndomain: {{x: 64}}\n\
         loads: ['{name}[x]']\nlaunch: {{block: [[32]]}}\n"
    );
    wavecast::kernel::load("k", &text, &Default::default()).is_ok()
}

/// A kernel of work items, whose fields have these names, and one of threads and blocks.
fn documents(names: &[&str], number: usize) -> [String; 2] {
    let [table, first, second, axis] =
        [["jump", "to_", "in_", "how_"], ["total_float2_", "sum0_", "int_", "linux_"]][number % 2];
    let fields = names.iter().enumerate().map(|(i, n)| {
        let copies = if i % 7 == 0 { ", multiplicity: 2" } else { "" };
        format!("  {n}: {{dtype: f32, size: 256{copies}}}\n")
    });
    let fields: String = fields.collect();
    let (stored, loaded) = names.split_at(names.len() / 3);
    let access = |(i, n): (usize, &&str), x: &str| match i % 4 {
        0 => format!("  - {{at: 'load {n}[2*{x}]', width: 8}}\n"),
        1 => format!("  - load {n}[min({x}, 40) + {table}[{x} % 4]]\n"),
        2 => format!("  - load {n}[({x} - 3)/4 + 1]\n"),
        _ => format!("  - load {n}[{x}]\n"),
    };
    let stores =
        |x: &str| stored.iter().fold(String::new(), |all, n| all + "  - store " + n + "[" + x + "]\n");
    let body = |x: &str| {
        let loads: String = loaded.iter().enumerate().map(|all| access(all, x)).collect();
        loads + &stores(x)
    };
    let head = format!("wavecast: 1\nkernel: {}\ntables: {{{table}: [0, 3, 1, 2]}}\n", names[0]);
    let tail = "work: {flops: 1}\nlaunch: {block: [[32]]";
    let inner = names[names.len() - 1];
    let plain = format!(
        "{head}fields:\n{fields}domain: {{{axis}: 100}}\nbody:\n{}  - loop: {{{first}: 0..2}}\n    body:\n\
         \x20     - load {inner}[{axis} + (2*{first} - 1)/2 + 1]\n{tail}, fold: [[1], [2]]}}\n",
        body(axis)
    );
    let threads = format!(
        "{head}fields:\n{fields}  tile_: {{dtype: f32, size: 64, space: shared}}\ndomain: {{{axis}: 96}}\nbody:\n\
         \x20 - store tile_[threadIdx.x]\n  - sync\n  - load tile_[31 - threadIdx.x]\n{}  - loop: {{{second}: 0..2}}\n    body:\n\
         \x20     - load {inner}[threadIdx.x + {second}]\n{}{tail}}}\n",
        body(&format!("(threadIdx.x + {axis}/32)")).split("  - store").next().unwrap(),
        stores(axis),
    );
    [plain, threads]
}

fn groups() -> Vec<Vec<&'static str>> {
    let free: Vec<&str> = NASTY.split_whitespace().filter(|n| is_free(n)).collect();
    assert!(free.len() > 200, "{} names", free.len());
    free.chunks(60).map(<[&str]>::to_vec).collect()
}

fn kernels() -> Vec<Kernel> {
    let groups = groups();
    let all = groups.iter().enumerate().flat_map(|(i, names)| documents(names, i));
    all.map(|text| played::kernel(&text)).collect()
}

#[test]
fn cuda_and_hip_programs_with_nasty_names_compile_and_check_themselves() {
    if played::missing("cuda_and_hip_programs_with_nasty_names_compile_and_check_themselves") {
        return;
    }
    let mut wrong = Vec::new();
    for (i, kernel) in kernels().iter().enumerate() {
        for language in [Language::Cuda, Language::Hip] {
            let text = played::emitted(kernel, language);
            assert!(!text.contains("are not checked"), "{text}");
            let folder = played::folder(&format!("names-{i}"));
            match played::built(kernel, &text, language, &folder) {
                Err(said) => wrong.push(format!("{} {i}: {said}", language.word())),
                Ok(program) => {
                    let output = played::checked(&program, None);
                    if !output.status.success() {
                        wrong.push(String::from_utf8_lossy(&output.stderr).into_owned());
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn cuda_kernels_with_nasty_names_compile_for_gpus() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let own = root.join("target/cuda/bin/python");
    if !own.exists() {
        eprintln!("SKIPPED: no compiler for CUDA; .ci/setup --simulator installs one");
        return;
    }
    let folder = played::folder("names-cuda");
    for (i, kernel) in kernels().iter().enumerate() {
        let source = folder.join(format!("{i}.cu"));
        std::fs::write(&source, played::emitted(kernel, Language::Cuda)).unwrap();
        let output = Command::new(&own)
            .arg(root.join("calibration/wavecast-nvcc"))
            .args(["-arch=sm_80", "-cubin", "-o"])
            .args([&source.with_extension("cubin"), &source])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && !said.contains("warning"), "{}: {said}", source.display());
    }
}

#[test]
fn opencl_programs_with_nasty_names_compile_and_check_themselves() {
    if oclgrind::missing("opencl_programs_with_nasty_names_compile_and_check_themselves") {
        return;
    }
    let folder = oclgrind::folder("names-opencl");
    for (i, kernel) in kernels().iter().enumerate() {
        let source = folder.join(format!("{i}.c"));
        let program = source.with_extension("bin");
        std::fs::write(&source, played::emitted(kernel, Language::OpenCl)).unwrap();
        oclgrind::compiled(&source, &program);
        let run = Command::new("oclgrind")
            .arg(&program)
            .args(["--repeat", "0", "--warmup", "0", "--check", "all"])
            .current_dir(&folder)
            .output()
            .unwrap();
        oclgrind::succeeded(&run);
        let said = String::from_utf8_lossy(&run.stderr);
        assert!(!said.contains("Invalid") && !said.contains("wrong"), "{}: {said}", source.display());
    }
}
