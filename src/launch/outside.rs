//! Accesses by numbers of threads and blocks that leave their field in a launch.

use super::geometry::Launch;
use crate::expr::{Coord, Form, Scale};
use crate::kernel::{Kernel, Outside};

/// The first access that certainly leaves its field in a launch, of those of which a document alone does not tell.
pub(crate) fn outside<'k>(kernel: &'k Kernel, launch: &Launch) -> Option<Outside<'k>> {
    let sizes = &launch.sizes;
    let size = |scale: &Scale| scale.at(sizes).ok();
    let interval = |form: &Form<Scale>| {
        let placed = form.at(sizes).ok()?;
        // Other forms may lie in a part of their intervals only.
        if !placed.is_affine() {
            return None;
        }
        placed.interval(&|coord| range(kernel, launch, coord))
    };
    kernel.by_threads.iter().find_map(|access| Outside::find(kernel, access, &interval, &size))
}

/// All values of a coordinate that occur with all values of others.
fn range(kernel: &Kernel, launch: &Launch, coord: Coord) -> Option<(i64, i64)> {
    match coord {
        Coord::ThreadIdx(d) => Some((0, whole_blocks(kernel, launch, d.index()).0 - 1)),
        Coord::BlockIdx(d) => Some((0, whole_blocks(kernel, launch, d.index()).1 - 1)),
        Coord::Loop(id) => {
            let of = &kernel.loops[usize::from(id.0)];
            let constant = |form: &Form<Scale>| form.at(&launch.sizes).ok()?.as_constant();
            let (from, to, step) = (constant(&of.from)?, constant(&of.to)?, of.step.at(&launch.sizes).ok()?);
            let further = to.checked_sub(from).filter(|&further| step > 0 && further >= 0)?;
            Some((from, to - further % step))
        }
        Coord::Axis(_) | Coord::Thread(_) => None,
    }
}

/// Threads along a dimension that do something in each of so many blocks.
fn whole_blocks(kernel: &Kernel, launch: &Launch, d: usize) -> (i64, i64) {
    let (shape, fold) = (launch.sizes.block[d], launch.candidate.fold()[d]);
    if kernel.launch.grid.is_some() {
        return (shape, launch.sizes.grid[d]);
    }
    // Threads with work items; the domain may cut the last block.
    let threads = (kernel.extents()[d] - 1) / fold + 1;
    if threads < shape { (threads, 1) } else { (shape, threads / shape) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::load;
    use crate::launch::Candidate;

    /// What is said of an access to `s`, which has 64 elements, when the document is read and of a launch.
    fn said(body: &str, domain: i64, launch: &str, block: [i64; 3]) -> [Option<String>; 2] {
        let text = format!(
            "wavecast: 1\nkernel: k\nfields: {{s: {{dtype: f32, size: 64}}, t: {{dtype: f32, size: blockDim.x, \
             space: shared}}}}\ndomain: {{i: {domain}}}\nbody: [{body}]\nwork: {{flops: 1}}\n\
             launch: {{registers: 32{launch}}}\n"
        );
        let kernel = load("k", &text, &Default::default()).unwrap().kernels.remove(0);
        let launch = Launch::new(&kernel, Candidate::new(block, [1; 3]).unwrap()).unwrap();
        let of_document = kernel.warnings.iter().find(|w| w.code == "out-of-bounds");
        let reached = |message: &str| message.rsplit("runs ").next().unwrap().to_owned();
        let of_launch = outside(&kernel, &launch).map(|outside| reached(&outside.told(&kernel)));
        [of_document.map(|w| reached(&w.message)), of_launch]
    }

    #[test]
    fn blocks_that_reach_beyond_an_array_are_told() {
        let of_block = |body, block| said(body, 64, "", [block, 1, 1])[1].clone();
        assert_eq!(of_block("'load s[2*threadIdx.x]'", 32), None);
        assert_eq!(of_block("'load s[2*threadIdx.x + 1]'", 32), None);
        let beyond = |to, last| Some(format!("from 0 to {to}; the field has 0 to {last}"));
        assert_eq!(of_block("'load s[2*threadIdx.x]'", 64), beyond(126, 63));
        assert_eq!(of_block("'load s + 2*threadIdx.x'", 64), beyond(126, 63));
        assert_eq!(of_block("'store t[3*threadIdx.x]'", 16), beyond(45, 15));
        assert_eq!(of_block("'load s[32*blockIdx.x + threadIdx.x]'", 32), None);
        assert_eq!(of_block("'load s[32*blockIdx.x + threadIdx.x]'", 16), beyond(32 * 3 + 15, 63));
        let last = of_block("'load s[threadIdx.x - 1]'", 32).unwrap();
        assert_eq!(last, "from -1 to 30; the field has 0 to 63");
        // A condition may keep it inside, and threads beyond the domain do nothing.
        assert_eq!(of_block("{at: 'load s[2*threadIdx.x]', when: 'threadIdx.x < 32'}", 64), None);
        assert_eq!(said("'load s[2*threadIdx.x]'", 20, "", [64, 1, 1])[1], None);
        assert_eq!(said("'load s[tidx]'", 60, "", [7, 1, 1])[1], None);
        // Threads of a grid of its own are all there.
        let own = ", grid: [1]";
        assert_eq!(said("'load s[2*threadIdx.x]'", 20, own, [64, 1, 1])[1], beyond(126, 63));
    }

    #[test]
    fn loops_that_reach_beyond_an_array_are_told() {
        let of = |to: &str, address: &str| {
            let body =
                format!("{{loop: {{k: {{from: 0, to: {to}, step: 3}}}}, body: ['load s[{address}]']}}");
            said(&body, 64, "", [32, 1, 1])
        };
        let told = |to| Some(format!("from 0 to {to}; the field has 0 to 63"));
        assert_eq!(of("65", "k"), [None, None]);
        assert_eq!(of("66", "k"), [told(66), None]);
        assert_eq!(of("2*blockDim.x + 1", "k"), [None, None]);
        assert_eq!(
            of("3*blockDim.x", "k"),
            [None, None],
            "whether it runs is not looked at before the launch"
        );
        assert_eq!(of("33", "k + threadIdx.x"), [None, told(64)]);
        assert_eq!(of("32", "k + threadIdx.x"), [None, None]);
        // This one never runs.
        assert_eq!(of("-1", "k + 100"), [None, None]);
    }
}
