//! What threads touch in single iterations of their loops: what has to stay in a cache for the next
//! iteration, and how much is touched in all iterations, each by itself.

use super::pattern::Frame;
use super::query::Range;
use super::threads::Touched;

/// One iteration, which stands for all of its loops.
#[derive(Debug, Clone)]
pub struct Iteration {
    /// What is touched in it.
    pub touched: Touched,
    /// How many there are.
    pub count: f64,
}

impl Touched {
    /// Most loops around an access.
    pub fn depth(&self) -> usize {
        self.patterns.iter().map(|p| self.frames[p.frame].loops.len()).max().unwrap_or(0)
    }

    /// Iterations of the outermost `depth` loops, from the middle of each, one for each nest. What stands
    /// in fewer loops is an iteration of those.
    pub fn iterations(&self, depth: usize) -> Vec<Iteration> {
        let mut nests: Vec<&[Range]> = Vec::new();
        for pattern in &*self.patterns {
            let nest = outermost(&self.frames[pattern.frame], depth);
            if !nests.contains(&nest) {
                nests.push(nest);
            }
        }
        let one = |nest: &&[Range]| {
            let of_nest = self.patterns.iter().filter(|p| outermost(&self.frames[p.frame], depth) == *nest);
            let mut frames = self.frames.clone();
            for frame in &mut frames {
                for (_, from, to) in frame.loops.iter_mut().take(depth) {
                    *from = i64::midpoint(*from, *to);
                    *to = *from;
                }
            }
            let count = nest.iter().map(|&(_, from, to)| (to - from + 1) as f64).product();
            Iteration { touched: self.with(frames, of_nest.cloned().collect()), count }
        };
        nests.iter().map(one).collect()
    }
}

fn outermost(frame: &Frame, depth: usize) -> &[Range] {
    frame.loops.get(..depth).unwrap_or(&frame.loops)
}
