//! The rules from which launch candidates are made.

use std::collections::HashSet;

use num_rational::Ratio;

use super::super::limits::MAX_FOLD;
use super::accesses;
use super::params::value;
use super::symbols::{MAX_BLOCK, Symbols};
use crate::expr::{Coefficient, Coord, Expr, Fraction, Scale, expand_range, lower, lower_fraction};
use crate::kernel::document::{BlockAxesDoc, BlockDoc, LaunchDoc, RegisterDoc, RegistersDoc};
use crate::kernel::leaf::{Formula, Number, OneOrMany, Ranges, Space};
use crate::kernel::limits::Limits;
use crate::kernel::lists::{ShapeDoc, ShapeDocs};
use crate::kernel::model::{BlockRule, Field, LaunchRules, RegisterRule, Statement};
use crate::space::{Fold, Shape};
use crate::text::{Decoder, Diagnostic, Span};

/// How often all folds together may unroll as many accesses as a document may have.
const MAX_UNROLLED: usize = 20;

/// The launch rules of a document.
pub(super) fn build(
    doc: Option<&LaunchDoc>,
    fields: &[Field],
    body: &[Statement],
    symbols: &Symbols,
    limits: Limits,
    decoder: &mut Decoder,
) -> Option<LaunchRules> {
    let empty = LaunchDoc::default();
    let doc = doc.unwrap_or(&empty);
    let mut rules = Rules { symbols, limits, decoder };
    let blocks = match &doc.block {
        Some(block) => rules.blocks(block),
        None => Some(rules.assumed_blocks()),
    };
    let folds = doc.fold.as_ref().map_or(Some(vec![Fold::ONE]), |f| rules.shapes(f, MAX_FOLD, "fold"));
    let registers = doc.registers.as_ref().map_or(Some(Vec::new()), |r| rules.registers(r));
    let shared = match &doc.shared {
        Some(formula) => rules.launch_constant(&formula.0),
        None => Some(shared_fields(fields)),
    };
    let grid = match &doc.grid {
        None => Some(None),
        Some(grid) => rules.grid(grid).map(Some),
    };
    let units = doc.units_per_thread.as_ref().map_or(Some(None), |u| rules.units(u, doc.span).map(Some));
    let (blocks, folds) = (blocks?, folds?);
    rules.check_count(&blocks, &folds, doc.span)?;
    rules.check_folds(&folds, accesses::count(body), doc.span)?;
    Some(LaunchRules {
        blocks,
        folds,
        registers: registers?,
        shared: shared?,
        grid: grid?,
        units_per_thread: units?,
        by_item: by_item(body),
    })
}

/// What a document says of the launches of its code, as far as it does.
#[derive(Default)]
pub(super) struct Asked {
    pub blocks: Option<BlockRule>,
    pub grid: Option<[Scale; 3]>,
    pub shared: Option<Scale>,
}

/// What a document says of the launches of its code.
pub(super) fn asked(
    doc: Option<&LaunchDoc>,
    symbols: &Symbols,
    limits: Limits,
    decoder: &mut Decoder,
) -> Option<Asked> {
    let Some(doc) = doc else { return Some(Asked::default()) };
    let mut rules = Rules { symbols, limits, decoder };
    if let Some(folds) = doc.fold.as_ref().and_then(|f| rules.shapes(f, MAX_FOLD, "fold")) {
        refuse_folds(&folds, doc.span, rules.decoder);
    }
    let blocks = doc.block.as_ref().map_or(Some(None), |block| rules.blocks(block).map(Some));
    let grid = doc.grid.as_ref().map_or(Some(None), |grid| rules.grid(grid).map(Some));
    let shared = doc.shared.as_ref().map_or(Some(None), |bytes| rules.launch_constant(&bytes.0).map(Some));
    let (blocks, grid, shared) = (blocks?, grid?, shared?);
    if let Some(blocks) = &blocks {
        rules.check_count(blocks, &[Fold::ONE], doc.span)?;
    }
    Some(Asked { blocks, grid, shared })
}

/// Code has its folds in it.
fn refuse_folds(folds: &[Fold], span: Span, decoder: &mut Decoder) {
    if folds.iter().any(|f| *f != Fold::ONE) {
        let message = "`launch.fold` says nothing of code, which has the work of a thread in it";
        let error = Diagnostic::error("code-fold", span, message);
        decoder
            .report(error.help("leave it out; compile the code for each fold, and give each as a variant"));
    }
}

/// Whether an access is written with work items.
fn by_item(body: &[Statement]) -> bool {
    body.iter().any(|s| match s {
        Statement::Access(access) => access.by_item,
        Statement::Loop(_, inner) => by_item(inner),
        Statement::Sync => false,
    })
}

/// Bytes that the shared fields of a kernel need.
fn shared_fields(fields: &[Field]) -> Scale {
    let bytes = |f: &Field| f.elements.times(&Scale::int(f.dtype.bytes))?.times(&Scale::int(f.multiplicity));
    let shared = fields.iter().filter(|f| f.space == Space::Shared);
    // ShapeDocs were bounded when the fields were made; a sum beyond that fits no device either.
    shared.fold(Scale::int(0), |sum, f| {
        bytes(f).and_then(|b| sum.plus(&b)).unwrap_or_else(|_| Scale::int(i64::MAX))
    })
}

struct Rules<'a> {
    symbols: &'a Symbols,
    limits: Limits,
    decoder: &'a mut Decoder,
}

impl Rules<'_> {
    fn error<T>(&mut self, span: Span, message: String, help: &str) -> Option<T> {
        self.decoder.report(Diagnostic::error("launch", span, message).help(help));
        None
    }

    fn blocks(&mut self, doc: &BlockDoc) -> Option<BlockRule> {
        match doc {
            BlockDoc::List(shapes) => self.shapes(shapes, MAX_BLOCK, "block").map(BlockRule::List),
            BlockDoc::Axes(axes) => self.product(axes),
        }
    }

    fn product(&mut self, doc: &BlockAxesDoc) -> Option<BlockRule> {
        if !doc.damaged.is_empty() {
            return None;
        }
        let along =
            [&doc.x, &doc.y, &doc.z].map(|r| r.as_ref().map_or(Some(vec![1]), |r| self.values(r, MAX_BLOCK)));
        let [Some(x), Some(y), Some(z)] = along else { return None };
        let threads =
            doc.threads.as_ref().map_or(Some(Vec::new()), |t| self.values(t, MAX_BLOCK * MAX_BLOCK))?;
        Some(BlockRule::Product { along: [x, y, z], threads })
    }

    /// The values of ranges, in ascending order without repetition.
    fn values(&mut self, ranges: &Ranges, most: i64) -> Option<Vec<i64>> {
        let span = range_span(ranges).unwrap_or(self.symbols.span);
        let mut values = Vec::new();
        for range in &ranges.0 {
            match expand_range(range, self.symbols, self.limits.candidates) {
                Ok(more) => values.extend(more),
                Err(error) => {
                    self.symbols.report(error, self.decoder);
                    return None;
                }
            }
            // Ranges may be too long together though none is alone.
            if values.len() / 2 > self.limits.candidates {
                let message = format!("the ranges have more than {} values", 2 * self.limits.candidates);
                let help = "raise it with --limit candidates=N if this is meant";
                return self.error(span, message, help);
            }
        }
        values.sort_unstable();
        values.dedup();
        match values.iter().find(|v| !(1..=most).contains(*v)) {
            Some(v) => self.error(
                span,
                format!("{v} threads; 1 to {most} are possible"),
                "leave out what is beyond them: for example `block: {x: pow2(32..1024)}`",
            ),
            None if values.is_empty() => {
                self.error(span, "the range is empty".into(), "write it as smallest..largest")
            }
            None => Some(values),
        }
    }

    fn shapes<T: Shape>(&mut self, shapes: &ShapeDocs, most: i64, what: &str) -> Option<Vec<T>> {
        if shapes.0.is_empty() {
            return self.error(
                self.symbols.span,
                format!("the list of `{what}` shapes is empty"),
                "leave the key out",
            );
        }
        let all: Vec<Option<T>> = shapes.0.iter().map(|s| self.shape(s, most, what)).collect();
        let mut out = all.into_iter().collect::<Option<Vec<_>>>()?;
        let mut seen = HashSet::new();
        out.retain(|shape| seen.insert(*shape));
        Some(out)
    }

    fn shape<T: Shape>(&mut self, doc: &ShapeDoc, most: i64, what: &str) -> Option<T> {
        if doc.value.is_empty() || doc.value.len() > 3 {
            let message = format!("a {what} of {} numbers; one to three are possible", doc.value.len());
            return self.error(doc.span, message, "write [x, y, z]");
        }
        let mut shape = [1; 3];
        for (extent, formula) in shape.iter_mut().zip(&doc.value) {
            *extent = value(&formula.0, self.symbols, self.decoder)?;
            if !(1..=most).contains(extent) {
                let message = format!("a {what} extent of {extent}; 1 to {most} are possible");
                return self.error(formula.0.span, message, "write [x, y, z] with positive numbers");
            }
        }
        T::shaped(shape)
    }

    fn registers(&mut self, doc: &RegistersDoc) -> Option<Vec<RegisterRule>> {
        match doc {
            RegistersDoc::Fixed(formula) => {
                let value = self.positive(formula, "registers")?;
                Some(vec![RegisterRule { fold: None, threads: None, value }])
            }
            RegistersDoc::ByLaunch(entries) => {
                let rules: Vec<Option<RegisterRule>> = entries.iter().map(|e| self.register(e)).collect();
                let mut rules = rules.into_iter().collect::<Option<Vec<_>>>()?;
                // Only the first of several for the same launches can count.
                let mut seen = HashSet::new();
                rules.retain(|r| seen.insert((r.fold, r.threads)));
                Some(rules)
            }
        }
    }

    fn register(&mut self, doc: &RegisterDoc) -> Option<RegisterRule> {
        let value = self.positive(doc.value.as_ref()?, "registers")?;
        let fold = doc.fold.as_ref().map_or(Some(None), |f| self.shape(f, MAX_FOLD, "fold").map(Some))?;
        let threads = doc.threads.as_ref().map_or(Some(None), |t| self.positive(t, "threads").map(Some))?;
        Some(RegisterRule { fold, threads, value })
    }

    fn positive(&mut self, formula: &Formula, what: &str) -> Option<i64> {
        let number = value(&formula.0, self.symbols, self.decoder)?;
        if (1..=i64::from(u32::MAX)).contains(&number) {
            return Some(number);
        }
        self.error(
            formula.0.span,
            format!("`{what}` is {number}; it must be positive"),
            "leave the key out if it is not known",
        )
    }

    /// A number that may depend on block and grid.
    fn launch_constant(&mut self, e: &Expr) -> Option<Scale> {
        match lower(e, &Launched(self.symbols)) {
            Ok(form) => match form.as_scale() {
                Some(scale) if scale.as_int().is_none_or(|n| n >= 0) => Some(scale.clone()),
                _ => self.error(e.span, format!("`{e}` is not a size"), "give a number of at least 0"),
            },
            Err(error) => {
                self.symbols.report(error, self.decoder);
                None
            }
        }
    }

    fn grid(&mut self, doc: &OneOrMany<Formula>) -> Option<[Scale; 3]> {
        let formulas = doc.as_slice();
        if formulas.is_empty() || formulas.len() > 3 {
            let message = format!("a grid of {} numbers; one to three are possible", formulas.len());
            return self.error(self.symbols.span, message, "write grid: [x, y, z]");
        }
        let mut grid = [Scale::int(1), Scale::int(1), Scale::int(1)];
        for (extent, formula) in grid.iter_mut().zip(formulas) {
            *extent = self.launch_constant(&formula.0)?;
            if extent.mentions_grid() {
                let message = format!("`{}` asks for the grid that it is to give", formula.0);
                return self.error(formula.0.span, message, "use numbers, parameters and blockDim");
            }
            if extent.as_int().is_some_and(|n| n < 1) {
                return self.error(formula.0.span, "a grid without blocks".into(), "give at least 1");
            }
        }
        Some(grid)
    }

    /// A fraction that may depend on block and grid.
    fn units(&mut self, doc: &Number, span: Span) -> Option<Fraction> {
        let (fraction, span) = match doc {
            Number::Float(f) => (approximate(*f).map(Fraction::from), span),
            Number::Formula(Formula(e)) => match lower_fraction(e, &Launched(self.symbols)) {
                Ok(fraction) => (Some(fraction), e.span),
                Err(error) => {
                    self.symbols.report(error, self.decoder);
                    return None;
                }
            },
        };
        // Of what depends on the launch each launch finds out.
        match fraction {
            Some(f) if f.as_ratio().is_none_or(|r| *r.numer() > 0) => Some(f),
            _ => self.error(
                span,
                "`units_per_thread` must be a positive fraction".into(),
                "for example 4, 1/32 or N/(blockDim.x*gridDim.x)",
            ),
        }
    }

    /// All powers of two with 64 to 1024 threads, along the axes that the domain has.
    fn assumed_blocks(&mut self) -> BlockRule {
        let message = "no `launch.block` given; all powers of two with 64 to 1024 threads are considered";
        self.decoder.report(Diagnostic::warning("launch-assumed", None, message));
        let powers = |most: i64| (0..=10).map(|i| 1_i64 << i).filter(|&p| p <= most).collect::<Vec<_>>();
        let axes = self.symbols.axes.len();
        let along =
            [powers(1024), powers(if axes > 1 { 1024 } else { 1 }), powers(if axes > 2 { 64 } else { 1 })];
        BlockRule::Product { along, threads: vec![64, 128, 256, 512, 1024] }
    }

    /// Each fold unrolls the accesses once more.
    fn check_folds(&mut self, folds: &[Fold], accesses: usize, span: Span) -> Option<()> {
        let unrolled = |fold: &Fold| {
            let items = fold.iter().map(|&f| usize::try_from(f).unwrap_or(usize::MAX));
            items.fold(accesses, usize::saturating_mul)
        };
        let count = folds.iter().map(unrolled).fold(0, usize::saturating_add);
        let most = self.limits.accesses.saturating_mul(MAX_UNROLLED);
        if folds.len() == 1 || count <= most {
            return Some(());
        }
        let message = format!("the folds unroll to {count} accesses in all; at most {most} are considered");
        self.error(span, message, "raise it with --limit accesses=N if this is meant")
    }

    fn check_count(&mut self, blocks: &BlockRule, folds: &[Fold], span: Span) -> Option<()> {
        let shapes = match blocks {
            BlockRule::List(list) => list.len(),
            BlockRule::Product { along, .. } => along.iter().fold(1, |n: usize, a| n.saturating_mul(a.len())),
        };
        let count = shapes.saturating_mul(folds.len());
        if count <= self.limits.candidates {
            return Some(());
        }
        let message = format!("{count} launch candidates; the limit is {}", self.limits.candidates);
        self.error(span, message, "raise it with --limit candidates=N if this is meant")
    }
}

/// The fraction that a decimal number stands for.
fn approximate(f: f64) -> Option<Ratio<i64>> {
    (0..=30).map(|i| 1_i64 << i).find_map(|denominator| {
        let numerator = f * denominator as f64;
        #[expect(clippy::cast_possible_truncation, reason = "integral and below 2^53")]
        (numerator.fract() == 0.0 && numerator.abs() < 9.0e15)
            .then(|| Ratio::new(numerator as i64, denominator))
    })
}

fn range_span(ranges: &Ranges) -> Option<Span> {
    use crate::expr::Range;
    ranges.0.first().map(|r| match r {
        Range::Single(e) => e.span,
        Range::Span { from, to, .. } | Range::Pow2 { from, to } => from.span.to(to.span),
    })
}

/// The names of a document where only launch constants make sense.
struct Launched<'s>(&'s Symbols);

impl crate::expr::Scope for Launched<'_> {
    fn resolve(&self, name: &str) -> Option<crate::expr::Binding> {
        self.0.resolve(name)
    }

    fn interval(&self, coord: Coord) -> Option<(i64, i64)> {
        self.0.interval(coord)
    }

    fn refuse(&self, _: Coord) -> Option<&'static str> {
        Some("sizes of a launch are the same for all threads: use numbers, blockDim and gridDim")
    }

    fn known(&self) -> Vec<&str> {
        crate::expr::Scope::known(self.0)
    }

    fn listed(&self) -> Option<String> {
        crate::expr::Scope::listed(self.0)
    }
}
