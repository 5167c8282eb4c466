//! Numbers that are constant during one launch: integers and polynomials of block and grid sizes.

use super::ast::Dim;
use super::form::{Coefficient, Excess, MAX_DEPTH, MAX_SIZE, Term};
use crate::space::{Block, Grid};

/// Most products in one launch constant.
const MAX_PRODUCTS: usize = 256;
/// Most products that are multiplied with each other.
const MAX_PAIRS: usize = 16 * MAX_PRODUCTS;

/// What a launch constant is made of.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LaunchAtom {
    /// Threads of a block along one dimension.
    BlockDim(Dim),
    /// Blocks of the grid along one dimension.
    GridDim(Dim),
    /// A quotient, minimum or table entry of launch constants.
    Term(Box<Term<Scale>>),
}

/// The sizes that a launch fixes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LaunchSizes {
    /// Threads per block along x, y, z.
    pub block: Block,
    /// Blocks along x, y, z.
    pub grid: Grid,
}

impl LaunchSizes {
    /// One block of one thread: what does not depend on the launch has any sizes.
    pub const ONE: Self = Self { block: Block::ONE, grid: Grid::ONE };
}

/// An integer polynomial in launch constants. Products are sorted and have no zero factor, so that
/// equal polynomials are equal values.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Scale {
    constant: i64,
    products: Vec<(Vec<LaunchAtom>, i64)>,
}

impl Scale {
    /// The polynomial that is just this atom.
    pub fn atom(atom: LaunchAtom) -> Self {
        Self { constant: 0, products: vec![(vec![atom], 1)] }
    }

    /// The constant part.
    pub fn constant(&self) -> i64 {
        self.constant
    }

    /// The other parts: factors and their coefficient.
    pub fn products(&self) -> &[(Vec<LaunchAtom>, i64)] {
        &self.products
    }

    /// Whether the size of the grid occurs.
    pub fn mentions_grid(&self) -> bool {
        self.products.iter().flat_map(|p| &p.0).any(|atom| match atom {
            LaunchAtom::GridDim(_) => true,
            LaunchAtom::BlockDim(_) => false,
            LaunchAtom::Term(term) => term.mentions_grid(),
        })
    }

    /// The value for given sizes.
    pub fn at(&self, sizes: &LaunchSizes) -> Result<i64, Excess> {
        let mut total = self.constant;
        for (factors, coefficient) in &self.products {
            let mut product = *coefficient;
            for factor in factors {
                let value = match factor {
                    LaunchAtom::BlockDim(d) => sizes.block[d.index()],
                    LaunchAtom::GridDim(d) => sizes.grid[d.index()],
                    LaunchAtom::Term(term) => term.at(sizes)?.as_constant().ok_or(Excess::TooComplex)?,
                };
                product = product.checked_mul(value).ok_or(Excess::Overflow)?;
            }
            total = total.checked_add(product).ok_or(Excess::Overflow)?;
        }
        Ok(total)
    }

    fn normalised(constant: i64, mut products: Vec<(Vec<LaunchAtom>, i64)>) -> Result<Self, Excess> {
        products.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let mut merged: Vec<(Vec<LaunchAtom>, i64)> = Vec::with_capacity(products.len());
        for (factors, coefficient) in products {
            match merged.last_mut() {
                Some(last) if last.0 == factors => {
                    last.1 = last.1.checked_add(coefficient).ok_or(Excess::Overflow)?;
                }
                _ => merged.push((factors, coefficient)),
            }
        }
        merged.retain(|p| p.1 != 0);
        let made = Self { constant, products: merged };
        let size = made.size();
        if made.products.len() > MAX_PRODUCTS || size > MAX_SIZE {
            return Err(Excess::TooComplex);
        }
        if size > MAX_DEPTH && made.depth() > MAX_DEPTH {
            return Err(Excess::TooComplex);
        }
        Ok(made)
    }
}

impl Coefficient for Scale {
    fn int(value: i64) -> Self {
        Self { constant: value, products: Vec::new() }
    }

    fn as_int(&self) -> Option<i64> {
        self.products.is_empty().then_some(self.constant)
    }

    fn plus(&self, other: &Self) -> Result<Self, Excess> {
        let constant = self.constant.checked_add(other.constant).ok_or(Excess::Overflow)?;
        if self.products.is_empty() && other.products.is_empty() {
            return Ok(Self::int(constant));
        }
        Self::normalised(constant, self.products.iter().chain(&other.products).cloned().collect())
    }

    fn times(&self, other: &Self) -> Result<Self, Excess> {
        let constant = self.constant.checked_mul(other.constant).ok_or(Excess::Overflow)?;
        if self.products.is_empty() && other.products.is_empty() {
            return Ok(Self::int(constant));
        }
        if self.products.len() * other.products.len() > MAX_PAIRS {
            return Err(Excess::TooComplex);
        }
        let unit = |s: &Self| {
            std::iter::once((Vec::new(), s.constant)).chain(s.products.clone()).collect::<Vec<_>>()
        };
        let mut products = Vec::new();
        for (a, p) in unit(self) {
            for (b, q) in unit(other) {
                if a.is_empty() && b.is_empty() {
                    continue;
                }
                let mut factors = [a.as_slice(), b.as_slice()].concat();
                factors.sort_unstable();
                products.push((factors, p.checked_mul(q).ok_or(Excess::Overflow)?));
            }
        }
        Self::normalised(constant, products)
    }

    fn absorb(term: &Term<Self>) -> Option<Self> {
        (!term.has_coordinate()).then(|| Self::atom(LaunchAtom::Term(Box::new(term.clone()))))
    }

    fn size(&self) -> usize {
        let atom = |a: &LaunchAtom| if let LaunchAtom::Term(t) = a { t.size() } else { 1 };
        1 + self
            .products
            .iter()
            .map(|(factors, _)| 1 + factors.iter().map(atom).sum::<usize>())
            .sum::<usize>()
    }

    fn depth(&self) -> usize {
        let atoms = self.products.iter().flat_map(|p| &p.0);
        atoms.map(|a| if let LaunchAtom::Term(t) = a { t.depth() } else { 0 }).max().unwrap_or(0)
    }
}
