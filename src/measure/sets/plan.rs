//! A set file held against the head of its table: every name found, every unit understood.

use super::condition::{Test, same};
use super::document::{
    CellFormula, ClockDocument, ColumnChoice, FurtherColumn, Many, NameOrColumn, SetDocument,
};
use super::formula::{Columns, Formula};
use crate::device::{Frequency, Quantity as _};
use crate::kernel::InstructionClass;
use crate::measure::measurements::{Column, MeasuredQuantity, Unit};
use crate::text::{Diagnostic, Named, Spanned};
use crate::traffic::Caches;

/// A name for all rows, or by the cells of a column.
#[derive(Debug, Clone)]
pub(super) enum Chosen {
    All(String),
    Column(ByColumn),
}

/// What stands for the cells of a column.
#[derive(Debug, Clone)]
pub(super) struct ByColumn {
    pub(super) column: usize,
    names: Vec<(String, String)>,
    otherwise: Option<String>,
}

impl ByColumn {
    /// What stands for a cell; a cell for itself where nothing is named.
    pub(super) fn name<'n>(&'n self, cell: &'n str) -> Option<&'n str> {
        let named = self.names.iter().find(|n| same(&n.0, cell)).map(|n| &n.1);
        let named = named.or(self.otherwise.as_ref()).map(String::as_str);
        let itself = || (self.names.is_empty() && !cell.is_empty()).then_some(cell);
        named.or_else(itself)
    }
}

/// A column that the table does not have.
#[derive(Debug, Clone)]
pub(super) enum Further {
    First(Vec<Formula>),
    Column(ByColumn),
}

/// The clock of the measurements.
#[derive(Debug, Clone)]
pub(super) enum Clock {
    /// That of the device file.
    Device,
    /// The same for all rows, in Hz.
    Given(f64),
    /// By the cells of a row, in Hz.
    Formula(Formula),
    /// Not known: a factor on all times is fitted.
    Fitted,
}

/// A column that is filled from other rows.
#[derive(Debug, Clone)]
pub(super) struct Borrow {
    pub(super) column: usize,
    pub(super) conditions: Vec<(usize, Test)>,
    pub(super) same: Vec<Vec<usize>>,
    pub(super) otherwise: Option<f64>,
}

/// What the columns of a table mean.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) columns: Columns,
    /// Columns of the table itself; further ones follow.
    pub(super) own: usize,
    /// Columns of which each makes a launch, and the cells of new columns that stand for them; that with the cells
    /// themselves comes last.
    pub(super) each: Vec<(usize, Vec<String>)>,
    pub(super) derived: Vec<Further>,
    pub(super) conditions: Vec<(usize, Test)>,
    pub(super) when: Option<Formula>,
    pub(super) borrow: Vec<Borrow>,
    pub(super) device: Chosen,
    pub(super) clock: Clock,
    pub(super) kernel: Chosen,
    pub(super) variant: Option<Chosen>,
    pub(super) params: Vec<(String, Formula)>,
    pub(super) block: Vec<Formula>,
    pub(super) fold: Vec<Formula>,
    pub(super) grid: Vec<Formula>,
    pub(super) registers: Option<Formula>,
    pub(super) shared: Option<Formula>,
    pub(super) measured: Vec<(MeasuredQuantity, Unit, Formula)>,
    pub(super) per: Option<Formula>,
    pub(super) instructions: Vec<(InstructionClass, Formula)>,
    pub(super) caches: Option<Caches>,
    pub(super) config: Vec<usize>,
    pub(super) group: Vec<usize>,
    /// Columns that tell problems apart beside the device.
    pub(super) apart: Vec<usize>,
    pub(super) parts: Vec<(String, Vec<(usize, Test)>)>,
    pub(super) fixed: Vec<(usize, Test)>,
}

/// Reads parts of a set file, and remembers what is wrong with them.
struct Finder {
    columns: Columns,
    errors: Vec<Diagnostic>,
}

impl Finder {
    fn kept<T>(&mut self, found: Result<T, Diagnostic>) -> Option<T> {
        found.map_err(|error| self.errors.push(error)).ok()
    }

    fn column(&mut self, name: &Spanned<String>) -> Option<usize> {
        let found = self.columns.find(&name.value, name.span);
        self.kept(found)
    }

    fn all(&mut self, names: Option<&Many<Spanned<String>>>) -> Vec<usize> {
        names.into_iter().flat_map(|n| &n.0).filter_map(|name| self.column(name)).collect()
    }

    fn formula(&mut self, written: &CellFormula) -> Option<Formula> {
        let found = Formula::new(written, &self.columns);
        self.kept(found)
    }

    fn formulas(&mut self, written: Option<&Many<CellFormula>>, what: &str) -> Vec<Formula> {
        let Some(Many(written)) = written else { return Vec::new() };
        if let (0 | 4.., Some(first)) = (written.len(), written.first()) {
            let message = format!("a {what} of {} numbers; one to three are possible", written.len());
            self.errors.push(Diagnostic::error("launch", first.span, message).help("write [x, y, z]"));
        }
        written.iter().filter_map(|w| self.formula(w)).collect()
    }

    fn conditions(&mut self, written: Option<&Named<Test>>) -> Vec<(usize, Test)> {
        let written = written.into_iter().flat_map(|n| &n.0);
        written.filter_map(|(name, test)| Some((self.column(name)?, test.clone()))).collect()
    }

    fn choice(&mut self, written: &NameOrColumn) -> Option<Chosen> {
        Some(match written {
            NameOrColumn::All(name) => Chosen::All(name.value.clone()),
            NameOrColumn::Column(by) => Chosen::Column(self.by_column(by)?),
        })
    }

    fn by_column(&mut self, by: &ColumnChoice) -> Option<ByColumn> {
        let names = by.names.iter().flat_map(|n| &n.0);
        Some(ByColumn {
            names: names.map(|(cell, name)| (cell.value.clone(), name.value.clone())).collect(),
            otherwise: by.otherwise.as_ref().map(|o| o.value.clone()),
            column: self.column(by.column.as_ref()?)?,
        })
    }

    fn further(&mut self, written: &FurtherColumn) -> Option<Further> {
        match written {
            FurtherColumn::First(formulas) => {
                Some(Further::First(formulas.iter().filter_map(|f| self.formula(f)).collect()))
            }
            FurtherColumn::Column(by) => self.by_column(by).map(Further::Column),
        }
    }

    fn clock(&mut self, written: &ClockDocument) -> Option<Clock> {
        Some(match written {
            ClockDocument::Unknown(clock) if clock.fitted == Some(true) => Clock::Fitted,
            ClockDocument::Unknown(_) => Clock::Device,
            ClockDocument::Given(formula) => match Frequency::parse(formula.scalar.text.as_str()) {
                Some(frequency) => Clock::Given(frequency.0),
                None => Clock::Formula(self.formula(formula)?),
            },
        })
    }

    /// The columns of which each makes a launch; what stands for them gets columns of its own.
    fn each(&mut self, set: &SetDocument) -> Vec<(usize, Vec<String>)> {
        let mut each = Vec::new();
        if let Some(spread) = &set.each {
            let columns = || spread.columns.iter().flat_map(|c| &c.0);
            let mut names: Vec<&String> = Vec::new();
            for (name, _) in columns().flat_map(|(_, cells)| &cells.0) {
                if !names.contains(&&name.value) {
                    names.push(&name.value);
                }
            }
            for (column, cells) in columns() {
                let cell = |name: &&String| cells.0.iter().find(|c| c.0.value == **name);
                let cells =
                    names.iter().map(|n| cell(n).map(|c| c.1.value.clone()).unwrap_or_default()).collect();
                each.extend(self.column(column).map(|c| (c, cells)));
            }
            self.columns.0.extend(names.into_iter().cloned());
            self.columns.0.extend(spread.value.iter().map(|v| v.value.clone()));
        }
        each
    }

    /// Further columns, each of which knows those before.
    fn derived(&mut self, set: &SetDocument) -> Vec<Further> {
        let mut derived = Vec::new();
        for (name, formula) in set.columns.iter().flat_map(|c| &c.0) {
            derived.extend(self.further(formula));
            self.columns.0.push(name.value.clone());
        }
        derived
    }

    /// Columns that are filled from other rows.
    fn borrow(&mut self, set: &SetDocument) -> Vec<Borrow> {
        let mut all = Vec::new();
        for (name, from) in set.borrow.iter().flat_map(|b| &b.0) {
            let same = from.same.iter().flatten().map(|columns| self.all(Some(columns))).collect();
            let conditions = self.conditions(from.r#where.as_ref());
            let (otherwise, column) = (from.otherwise, self.column(name));
            all.extend(column.map(|column| Borrow { column, conditions, same, otherwise }));
        }
        all
    }

    /// A class of instructions.
    fn class(&mut self, name: &Spanned<String>) -> Option<InstructionClass> {
        let found = InstructionClass::ALL.iter().find(|class| class.word() == name.value);
        if found.is_none() {
            let known: Vec<&str> = InstructionClass::ALL.iter().map(|class| class.word()).collect();
            let message = format!("`{}` is no class of instructions", name.value);
            let help = format!("these are known: {}", known.join(", "));
            self.errors.push(Diagnostic::error("instructions", name.span, message).help(help));
        }
        found.copied()
    }

    /// A quantity with its unit, as the heads of measurement files have it.
    fn quantity(&mut self, head: &Spanned<String>) -> Option<(MeasuredQuantity, Unit)> {
        let found = match Column::parse(&head.value) {
            Ok(Column::Measured(quantity, unit)) => Ok((quantity, unit)),
            Ok(_) => {
                let message = format!("`{}` is nothing that is measured", head.value);
                Err(Diagnostic::error("measured", head.span, message).help("write for example `time [us]`"))
            }
            Err(bad) => Err(Diagnostic::error(bad.code, head.span, bad.message).maybe_help(bad.help)),
        };
        self.kept(found)
    }
}

impl Plan {
    /// Holds a set file against the head of its table.
    pub(super) fn new(set: &SetDocument, head: Vec<String>) -> Result<Self, Vec<Diagnostic>> {
        let own = head.len();
        let mut finder = Finder { columns: Columns(head), errors: Vec::new() };
        let each = finder.each(set);
        let derived = finder.derived(set);
        let f = &mut finder;
        let borrow = f.borrow(set);
        let launch = set.launch.as_ref();
        let measured: Vec<_> = set
            .measured
            .iter()
            .flat_map(|m| &m.0)
            .filter_map(|(name, formula)| {
                let (quantity, unit) = f.quantity(name)?;
                Some((quantity, unit, f.formula(formula)?))
            })
            .collect();
        let params: Vec<_> = set
            .params
            .iter()
            .flat_map(|p| &p.0)
            .filter_map(|(name, formula)| Some((name.value.clone(), f.formula(formula)?)))
            .collect();
        let instructions: Vec<_> = set
            .instructions
            .iter()
            .flat_map(|i| &i.0)
            .filter_map(|(name, formula)| Some((f.class(name)?, f.formula(formula)?)))
            .collect();
        let parts = set
            .parts
            .iter()
            .flat_map(|p| &p.0)
            .map(|(name, tests)| (name.value.clone(), f.conditions(Some(tests))))
            .collect();
        let caches = set.caches.as_ref().and_then(|word| {
            let found = Caches::of_word(&word.value);
            if found.is_none() {
                let message = format!("caches cannot be `{}`", word.value);
                f.errors.push(Diagnostic::error("caches", word.span, message).help("write warm or cold"));
            }
            found
        });
        if let Some(sample) = set.sample.as_ref().filter(|s| s.rows.is_some_and(|rows| rows < 1)) {
            let message = "a sample has at least one row".to_owned();
            f.errors.push(
                Diagnostic::error("sample", sample.span, message).help("leave `sample` out to take all"),
            );
        }
        let device = set.device.as_ref().and_then(|d| f.choice(d));
        let kernel = set.kernel.as_ref().and_then(|k| f.choice(k));
        let plan = Self {
            own,
            each,
            derived,
            conditions: f.conditions(set.r#where.as_ref()),
            when: set.when.as_ref().and_then(|w| f.formula(w)),
            borrow,
            clock: set.clock.as_ref().and_then(|c| f.clock(c)).unwrap_or(Clock::Device),
            variant: set.variant.as_ref().and_then(|v| f.choice(v)),
            params,
            block: f.formulas(launch.and_then(|l| l.block.as_ref()), "block"),
            fold: f.formulas(launch.and_then(|l| l.fold.as_ref()), "fold"),
            grid: f.formulas(launch.and_then(|l| l.grid.as_ref()), "grid"),
            registers: launch.and_then(|l| l.registers.as_ref()).and_then(|r| f.formula(r)),
            shared: launch.and_then(|l| l.shared.as_ref()).and_then(|s| f.formula(s)),
            measured,
            per: set.per.as_ref().and_then(|p| f.formula(p)),
            instructions,
            caches,
            config: f.all(set.config.as_ref()),
            group: f.all(set.group.as_ref()),
            apart: f.all(set.problem.as_ref()),
            parts,
            fixed: f.conditions(set.fixed.as_ref()),
            columns: Columns::default(),
            device: device.unwrap_or(Chosen::All(String::new())),
            kernel: kernel.unwrap_or(Chosen::All(String::new())),
        };
        if finder.errors.is_empty() {
            Ok(Self { columns: finder.columns, ..plan }.with_config().with_groups())
        } else {
            Err(finder.errors)
        }
    }

    /// What is in several groups is no alternative either.
    fn with_groups(mut self) -> Self {
        let mut columns = self.group.clone();
        columns.append(&mut self.apart);
        let mut seen = Vec::new();
        if let Chosen::Column(by) = &self.device {
            seen.push(by.column);
        }
        columns.retain(|c| {
            let new = !seen.contains(c);
            seen.push(*c);
            new
        });
        self.apart = columns;
        self
    }

    /// Where the file does not say what makes a configuration, all columns do that parameters, block and fold take.
    fn with_config(mut self) -> Self {
        if !self.config.is_empty() {
            return self;
        }
        let formulas = self.params.iter().map(|p| &p.1).chain(&self.block).chain(&self.fold);
        let mut columns: Vec<usize> = formulas.flat_map(Formula::columns).collect();
        for chosen in [Some(&self.kernel), self.variant.as_ref()].into_iter().flatten() {
            if let Chosen::Column(by) = chosen {
                columns.insert(0, by.column);
            }
        }
        let mut seen = Vec::new();
        columns.retain(|c| {
            !seen.contains(c) && {
                seen.push(*c);
                true
            }
        });
        self.config = columns;
        self
    }
}
