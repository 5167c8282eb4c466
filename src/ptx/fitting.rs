//! The blocks that fit the shared arrays of a kernel.

use super::answer::{Compiled, GridOf};
use super::assume::unused;
use super::document::{Reading, Understood, Unfit};
use super::given::{Given, arguments, launches};
use super::launches::{dimensions, fixed_arrays};
use super::read::Told;
use super::syntax::Function;
use crate::space::Block;
use crate::text::Diagnostic;

impl Compiled {
    /// What is understood for those of these blocks that fit the shared arrays of fixed size of an entry. Where it is not
    /// known how it is launched, somebody has to say which blocks fit.
    pub(super) fn fitting(
        &self,
        function: &Function,
        given: &Given,
        told: &Told,
        blocks: &[Block],
        grid: Option<GridOf<'_>>,
    ) -> Result<Vec<Reading>, Diagnostic> {
        let values = arguments(function, given)?;
        let launches = match grid {
            Some(grid) => launches(blocks, grid),
            None => launches(blocks, |block| self.followed(function, block, &values, told)),
        };
        let Ok(launches) = launches else { return Err(fixed_arrays(function, None)) };
        let (mut readings, mut left_out) = (Vec::new(), Vec::new());
        for launch in launches {
            let both = |found: &Understood<'_, '_>| (found.said(), found.unfit());
            let (reading, unfit) = self.understood(function, launch, &values, told, both)?;
            match unfit {
                None => readings.push(reading),
                Some(Unfit { instruction, array, outside }) => {
                    let (line, block) = (function.instructions[instruction].line, launch.block);
                    let how = if outside { "leaves" } else { "loads what no thread stores in" };
                    left_out.push(format!("of {block}, line {line} {how} `{array}`"));
                }
            }
        }
        // Along one dimension smaller blocks are as good; of several shapes, one is meant.
        if readings.len() > 1 && dimensions(function)[1..].contains(&true) {
            let fit: Vec<String> = readings.iter().map(|r| r.launch.block.to_string()).collect();
            let why = format!("nothing speaks against {}", fit.join(", "));
            return Err(fixed_arrays(function, Some(why)));
        }
        let Some(first) = readings.first_mut() else {
            let none = left_out.first().map(|why| format!("none of the usual ones ({why})"));
            return Err(fixed_arrays(function, none));
        };
        if let Some(why) = left_out.first() {
            let count = left_out.len();
            first.notes.push(format!(
                "shared arrays of fixed size fit some blocks only: {count} of the usual ones are left out ({why})"
            ));
        }
        unused(function, told, &readings)?;
        Ok(readings)
    }
}
