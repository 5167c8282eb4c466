//! What was told put in the place of what data decide.

use super::reader::{BaseKind, Reader, Stop};
use super::told::Share;
use crate::expr::{Builtin, Expr, Func, Kind, Op};
use crate::ptx::value::{Cond, Poly, WhyId};

impl Reader<'_> {
    fn line(&self, i: usize) -> u32 {
        self.function.instructions.get(i).map_or(0, |i| i.line)
    }

    /// The share that was told for a predicate, and whether for that of instruction `i`, its `!` included; otherwise it
    /// is that of the instruction that made the predicate.
    fn share_of(&mut self, i: usize, why: WhyId) -> Option<(Share, bool)> {
        let (here, there) = (self.line(i), self.line(self.whys[why.0 as usize].instruction));
        self.heeded.deciding.extend([here, there]);
        let own = self.told.shares.get(&here).map(|share| (here, *share, true));
        let (line, share, own) = own.or_else(|| Some((there, *self.told.shares.get(&there)?, false)))?;
        self.heeded.lines.insert(line);
        Some((share, own))
    }

    /// The condition with shares of threads in the place of what data decide.
    pub(super) fn shared(&mut self, i: usize, cond: Cond) -> Cond {
        match cond {
            Cond::Data(why, is) => match self.share_of(i, why) {
                Some((share, own)) => {
                    let (line, what) = (self.line(i), if share.warps { "warps" } else { "threads" });
                    let Share { some, of, .. } = share;
                    let note = format!(
                        "line {line}: the predicate is taken to hold for {some} of {of} {what}, evenly spread"
                    );
                    self.heeded.notes.insert(note);
                    let some = self.some_threads(i, share).unwrap_or(Cond::Data(why, true));
                    if own || is { some } else { some.not() }
                }
                None => Cond::Data(why, is),
            },
            Cond::And(all) => all.iter().fold(Cond::True, |sum, c| Cond::and(sum, self.shared(i, c.clone()))),
            Cond::Or(all) => all.iter().fold(Cond::False, |sum, c| Cond::or(sum, self.shared(i, c.clone()))),
            other => other,
        }
    }

    /// A condition that holds for a share of the threads and iterations, evenly spread over them.
    fn some_threads(&mut self, i: usize, share: Share) -> Option<Cond> {
        let (some, of) = (i128::from(share.some), i128::from(share.of));
        if some == 0 || some == of {
            return Some(if some == 0 { Cond::False } else { Cond::True });
        }
        let threads = i128::from(self.algebra.launch.block.volume());
        let (thread, blocks) = (self.linear_thread()?, self.linear_block()?);
        let mut number = if share.warps {
            self.algebra.div(&thread, 32)?.plus(&blocks, (threads + 31) / 32)?
        } else {
            thread.plus(&blocks, threads)?
        };
        // Iterations differ, and so do branches.
        for (counter, step) in self.counters.clone().iter().zip([7, 11, 13, 17, 19, 23]) {
            number = number.plus(counter, step)?;
        }
        let number = number.scale(some)?.add_number(i128::from(self.line(i)))?;
        let rest = self.algebra.rem(&number, of)?;
        let cond = Cond::Ge(rest.scale(-1)?.add_number(some - 1)?);
        Some(self.algebra.decided(cond))
    }

    /// How often a loop runs on average that data leave in each iteration with the probability that was told for the
    /// jump of instruction `i` or for its predicate, at most so often. It is left where the jump is made, or where it is
    /// not, and where the predicate is true or where it is false.
    pub(super) fn expected(
        &mut self,
        i: usize,
        why: WhyId,
        jump: bool,
        predicate: bool,
        most: Option<i128>,
    ) -> Option<i128> {
        let (share, own) = self.share_of(i, why)?;
        let leaves =
            if if own { jump } else { predicate } { share.probability() } else { 1.0 - share.probability() };
        let most = most.map_or(f64::INFINITY, |n| n as f64);
        let mean = if leaves > 0.0 { (1.0 - (1.0 - leaves).powf(most)) / leaves } else { most };
        if !mean.is_finite() {
            return None;
        }
        #[expect(clippy::cast_possible_truncation, reason = "a share is at least a thousandth")]
        let mean = (mean.round() as i128).max(1);
        let line = self.line(i);
        self.heeded
            .notes
            .insert(format!("the loop that data leave in line {line} is taken to run {mean} times"));
        Some(mean)
    }

    /// The place that was told for the access of an instruction: the array, and bytes from its beginning.
    pub(super) fn assumed(&mut self, i: usize) -> Option<(u32, Poly)> {
        let line = self.line(i);
        let assumed = self.told.assumed.get(&line)?;
        self.heeded.lines.insert(line);
        self.heeded
            .notes
            .insert(format!("line {line}: the address is not known, and this one stands for it"));
        let bytes = self.function.instructions[i].ty().map_or(1, crate::ptx::syntax::Type::bytes);
        let found = self.array(&assumed.array).and_then(|base| {
            let element = self.formula(&assumed.element)?;
            let place = element.scale(bytes.into()).ok_or_else(|| "its numbers are too large".to_owned())?;
            Ok((base, place))
        });
        match found {
            Ok(place) => Some(place),
            Err(why) => {
                self.wrong = self.wrong.take().or(Some(Stop::Assumed(line, why)));
                None
            }
        }
    }

    fn array(&mut self, name: &str) -> Result<u32, String> {
        let named = self.arguments.pointers.iter().find(|(_, p)| p.name == *name).map(|(at, _)| at.0);
        let param = named.or_else(|| self.function.params.iter().position(|p| p.name == *name));
        let kind = if let Some(number) = param {
            BaseKind::Param(name.to_owned(), number)
        } else {
            let variable = self.function.variable(name).or_else(|| self.module.variable(name));
            // Documents call variables as the source does.
            let variable = variable.or_else(|| {
                let mut all = self.function.variables.iter().chain(&self.module.variables);
                all.find(|v| self.module.source_name(&v.name) == name)
            });
            let variable = variable.ok_or_else(|| {
                format!("`{name}` is no parameter, no field of an --arg and no variable of the kernel")
            })?;
            BaseKind::Variable(variable.space, variable.name.clone())
        };
        let start = self.base(&kind);
        match self.algebra.atom(start.terms[0].0) {
            crate::ptx::value::Atom::Base(number, _) => Ok(*number),
            other => unreachable!("{other:?} is no array"),
        }
    }

    /// An expression of documents as a formula.
    fn formula(&mut self, expr: &Expr) -> Result<Poly, String> {
        let large = || "its numbers are too large".to_owned();
        Ok(match &expr.kind {
            Kind::Int(n) => Poly::constant((*n).into()),
            Kind::Name(name) => return self.named(name),
            Kind::Builtin(builtin) => self.builtin(*builtin).ok_or_else(large)?,
            Kind::Neg(inner) => self.formula(inner)?.scale(-1).ok_or_else(large)?,
            Kind::Call(func, a, b) => {
                let (a, b) = (self.formula(a)?, self.formula(b)?);
                match func {
                    Func::Min => self.algebra.min(a, b),
                    Func::Max => self.algebra.max(a, b),
                }
            }
            Kind::Chain(first, links) => {
                let mut sum = self.formula(first)?;
                for (op, next) in links {
                    let next = self.formula(next)?;
                    let number = next.number().filter(|n| *n > 0);
                    sum = match (op, number) {
                        (Op::Add, _) => sum.add(&next),
                        (Op::Sub, _) => sum.sub(&next),
                        (Op::Mul, _) => self.algebra.multiply(&sum, &next),
                        (Op::Div, Some(n)) => self.algebra.div(&sum, n),
                        (Op::Rem, Some(n)) => self.algebra.rem(&sum, n),
                        _ => return Err(format!("`{}` is not done in addresses here", op.symbol())),
                    }
                    .ok_or_else(large)?;
                }
                sum
            }
            Kind::Index(..) | Kind::Not(_) => return Err("an address is a sum of coordinates".to_owned()),
        })
    }

    fn named(&mut self, name: &str) -> Result<Poly, String> {
        let number = |prefix: &str| name.strip_prefix(prefix).and_then(|n| n.parse::<usize>().ok());
        if let Some(counter) = number("i").and_then(|n| self.counters.get(n)) {
            return Ok(counter.clone());
        }
        let param = self.function.params.iter().position(|p| p.name == *name).or(number("arg"));
        if let Some(value) = param.and_then(|param| self.arguments.numbers.get(&(param, 0))) {
            return Ok(Poly::constant(*value));
        }
        let thread = self.linear_thread();
        let found = match name {
            "lane" => thread.and_then(|t| self.algebra.rem(&t, 32)),
            "warp" => thread.and_then(|t| self.algebra.div(&t, 32)),
            _ => None,
        };
        found.ok_or_else(|| {
            let counters = (0..self.counters.len()).map(|n| format!("i{n}")).collect::<Vec<_>>().join(", ");
            let counters = if counters.is_empty() { "no loop around it".to_owned() } else { counters };
            format!(
                "`{name}` is not known there: there are threadIdx, blockIdx, blockDim, gridDim, lane, warp, parameters \
                 with values as arg0, and of loops {counters}"
            )
        })
    }

    fn builtin(&mut self, builtin: Builtin) -> Option<Poly> {
        let (block, grid) = (self.algebra.launch.block, self.algebra.launch.grid);
        Some(match builtin {
            Builtin::ThreadIdx(d) => self.algebra.tid(d.index()),
            Builtin::BlockIdx(d) => self.algebra.ctaid(d.index()),
            Builtin::BlockDim(d) => Poly::constant(block[d.index()].into()),
            Builtin::GridDim(d) => Poly::constant(grid[d.index()].into()),
            Builtin::GlobalThread(d) => {
                let (tid, ctaid) = (self.algebra.tid(d.index()), self.algebra.ctaid(d.index()));
                tid.plus(&ctaid, block[d.index()].into())?
            }
            Builtin::GlobalSize(d) => {
                Poly::constant(i128::from(block[d.index()]) * i128::from(grid[d.index()]))
            }
        })
    }
}
