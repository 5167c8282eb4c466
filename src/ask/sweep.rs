//! `sweep`: a series over a parameter, a number of the device, or the block.

use std::collections::BTreeSet;

use super::launches::few;
use super::predictor::Predictor;
use super::question::{Pieces, Question, Replies, Reply};
use super::source::{KernelSource, KernelsRead};
use crate::device::Device;
use crate::kernel::{Kernel, Options};
use crate::launch::{Candidate, Shapes};
use crate::predict::Estimator;
use crate::report::{SweepDocument, sweep_document, sweep_point, swept_device};
use crate::space::Block;
use crate::sweep::{SweepPlan, Varied, Vary, VaryKind, VaryValue, parse, run};
use crate::text::Fault;

/// How do predictions change with something that varies?
#[derive(Debug, Clone, Default)]
pub struct Sweep {
    /// What varies, each as `NAME=VALUES`.
    pub vary: Vec<String>,
    /// At each point rank all launches and take the best.
    pub best: bool,
    /// The launches, or those that are ranked.
    pub shapes: Shapes,
}

impl Question for Sweep {
    type Answer = SweepDocument;

    fn blocks(&self) -> Vec<Block> {
        self.shapes.blocks.clone()
    }

    fn answer(&self, kernels: &KernelsRead, on: &Predictor<'_>, pieces: &Pieces) -> Replies<Self::Answer> {
        let params: BTreeSet<&String> =
            kernels.kernels().iter().flat_map(|k| k.params.iter().map(|p| &p.0)).collect();
        let params: Vec<String> = params.into_iter().cloned().collect();
        let keys: Vec<String> = on.device.numbers().into_iter().map(|n| n.path).collect();
        let option = on.asker.option("vary");
        let mut replies = Vec::new();
        for (number, of_document) in kernels.documents().enumerate() {
            let lines = |k: &Kernel| self.launches(k).len();
            let lines = if self.best { 1 } else { of_document.iter().map(lines).sum() };
            let vary = parse(&self.vary, &option, &params, &keys, lines)?;
            self.refuse_conflicts(&vary, kernels, on)?;
            let kernels = &*kernels.covering(|kernel| self.blocks(kernel, &vary))?;
            let Some(of_document) = kernels.documents().nth(number) else { continue };
            let subject = Subject { sweep: self, kernels, of_document, predictor: on };
            let plan = SweepPlan { subject: &subject, kernels: of_document, best: self.best, vary: &vary };
            pieces.begin(plan.points());
            let points = run(&plan, &sweep_point, &pieces.done)?;
            // Where the device varies, the document is about the first, and says which the others are.
            let named = vary.iter().filter(|v| v.kind == VaryKind::WholeDevice).flat_map(|v| &v.values);
            let one =
                |value: &VaryValue| subject.device(Some(&value.to_string()), &[]).map(|d| (value.clone(), d));
            let devices = named.map(one).collect::<Result<Vec<_>, Fault>>()?;
            // A text without a kernel is refused when it is read.
            let on_device = |device| on.model.estimator(&of_document[0], device);
            let estimator = on_device(devices.first().map_or(&*on.device, |(_, first)| first));
            let devices = devices.iter().map(|(value, d)| swept_device(value.clone(), &on_device(d)));
            let mut warnings = on.warnings(of_document, kernels.sources());
            if vary.iter().any(|v| v.kind == VaryKind::WholeDevice) {
                warnings.retain(|w| w.code != "device-assumed");
            }
            replies.push(Reply::found(sweep_document(
                &estimator,
                devices.collect(),
                &vary,
                self.best,
                points,
                warnings,
            )));
        }
        Ok(replies)
    }
}

impl Sweep {
    /// For the best those that `rank` considers, otherwise those that were given.
    fn launches(&self, kernel: &Kernel) -> Vec<Candidate> {
        if self.best {
            return self.shapes.candidates(kernel);
        }
        few(&self.shapes, kernel).into_iter().map(|chosen| chosen.candidate).collect()
    }

    /// The blocks of all points.
    fn blocks(&self, kernel: &Kernel, vary: &[Vary]) -> Vec<Block> {
        let mut blocks: Vec<Block> = self.launches(kernel).iter().map(Candidate::block).collect();
        for Vary { kind, values, .. } in vary {
            let with = |block: &Block, value: &VaryValue| match (*kind, value) {
                (VaryKind::Block, VaryValue::Block(given)) => *given,
                (VaryKind::BlockExtent(axis), VaryValue::Integer(n)) => {
                    block.with(axis, *n).unwrap_or(*block)
                }
                _ => *block,
            };
            if matches!(kind, VaryKind::Block | VaryKind::BlockExtent(_)) {
                blocks = blocks.iter().flat_map(|b| values.iter().map(move |v| with(b, v))).collect();
            }
        }
        blocks
    }

    /// Refuses what is given twice.
    fn refuse_conflicts(
        &self,
        vary: &[Vary],
        kernels: &KernelsRead,
        predictor: &Predictor<'_>,
    ) -> Result<(), Fault> {
        let asker = predictor.asker;
        let best = asker.option("best");
        let (blocks, folds) = (&self.shapes.blocks, &self.shapes.folds);
        for Vary { name, kind, .. } in vary {
            let sets =
                |texts: &[String]| texts.iter().any(|t| t.split('=').next().map(str::trim) == Some(name));
            if sets(&kernels.source.options.set) || sets(predictor.source.changes()) {
                let message = format!("`{name}` varies and is set");
                return Err(asker.wrong(message, Some("leave out one of them")));
            }
            if name == "clock" && predictor.source.clock().is_some() {
                let message = format!("`clock` varies and {} is given", asker.option("clock"));
                return Err(asker.wrong(message, Some("leave out one of them")));
            }
            if *kind == VaryKind::WholeDevice && !predictor.source.is_assumed() {
                let message = "the device varies and is given".to_owned();
                return Err(asker.wrong(message, Some("leave out one of them")));
            }
            if self.best && matches!(kind.word(), "block" | "fold") {
                let help = format!("{best} ranks all launches at each point; vary something else");
                return Err(asker.wrong(format!("`{name}` varies and {best} is given"), Some(&help)));
            }
            let given = match kind {
                VaryKind::Block => !blocks.is_empty() || !self.shapes.threads.is_empty(),
                VaryKind::Fold => !folds.is_empty(),
                _ => false,
            };
            if given {
                let message = format!("`{name}` varies and is given");
                return Err(asker.wrong(message, Some("leave out one of them")));
            }
        }
        Ok(())
    }
}

/// A document whose kernels and device are read anew for each point.
struct Subject<'a> {
    sweep: &'a Sweep,
    kernels: &'a KernelsRead,
    of_document: &'a [Kernel],
    predictor: &'a Predictor<'a>,
}

impl Varied for Subject<'_> {
    fn device(&self, name: Option<&str>, set: &[String]) -> Result<Device, Fault> {
        let source = &self.predictor.source;
        name.map_or_else(|| source.read(set), |name| source.another(name).read(set))
    }

    fn kernels(&self, set: Vec<String>) -> Result<Vec<Kernel>, Fault> {
        if set.is_empty() {
            return Ok(self.of_document.to_vec());
        }
        let source = &self.kernels.source;
        let set = [source.options.set.clone(), set].concat();
        let options = Options { set, limits: source.options.limits };
        let document = self.of_document[0].document;
        let loaded = KernelSource { options, ..source.clone() }.load()?;
        // Only some of the variants may have been asked for.
        let meant = |k: &Kernel| self.of_document.iter().any(|of| of.variant == k.variant);
        Ok(loaded.kernels.into_iter().filter(|k| k.document == document && meant(k)).collect())
    }

    fn launches(&self, kernel: &Kernel) -> Vec<Candidate> {
        self.sweep.launches(kernel)
    }

    fn estimator<'k>(&'k self, kernel: &'k Kernel, device: &'k Device) -> Estimator<'k> {
        self.predictor.model.estimator(kernel, device)
    }
}
