//! What a record asks to be counted, and the volumes of its blocks.

use wavecast::expr::{Coord, Form};

use super::address::Accesses;
use super::blocks::{Tiling, lines_over};
use super::fused::outcomes;
use super::records::{FieldDef, Record, three};

/// Sums over fields that are each one of several outcomes.
const MOST_SUMS: usize = 4096;
/// Most threads of a block; blocks are walked through.
const MOST_THREADS: i64 = 1 << 20;
/// Longest line.
const LONGEST: i64 = 1 << 20;
/// Most threads of a grid, and bytes of an address.
const MOST: i128 = 1 << 60;

/// Values that a volume may have: one, but for fused accesses.
pub type Possible = Result<Vec<u128>, String>;

/// The threads and accesses of a record.
#[derive(Debug, Clone)]
pub struct Case {
    pub loads: Vec<Accesses>,
    pub stores: Vec<Accesses>,
    pub block: [i64; 3],
    pub grid: [i64; 3],
    /// Work items.
    pub domain: [i64; 3],
    /// Work items of a thread.
    pub fold: [i64; 3],
    /// Whether neighbouring accesses become one.
    pub fuses: bool,
}

impl Case {
    /// Understands a record, or says why it cannot be compared.
    pub fn new(record: &Record) -> Result<Self, String> {
        let parse = |fields: &[FieldDef]| fields.iter().map(Accesses::parse).collect::<Result<Vec<_>, _>>();
        let input = &record.input;
        let case = Self {
            loads: parse(&input.load_fields)?,
            stores: parse(&input.store_fields)?,
            block: three(&input.block, "the block")?,
            grid: three(&record.lc.grid, "the grid")?,
            domain: three(&input.domain, "the domain")?,
            fold: three(&input.blocking_factors, "the folding")?,
            // CDNA and RDNA; the records of both show it.
            fuses: record.device_params.l1_model != "NV",
        };
        case.bounded()?;
        let device = &record.device_params;
        let lines = [device.fetch, device.write, device.allocation, device.dram_fetch];
        if let Some(line) = lines.iter().find(|n| !(1..=LONGEST).contains(&n.0)) {
            return Err(format!("lines of {} bytes", line.0));
        }
        if !(1..=MOST_THREADS).contains(&device.warp_size.0) {
            return Err(format!("warps of {} threads", device.warp_size.0));
        }
        Ok(case)
    }

    /// Refuses what would leave 64 bits, so that nothing after this has to ask.
    pub fn bounded(&self) -> Result<(), String> {
        let product = |n: &[i64; 3]| n.iter().try_fold(1_i64, |p, &n| p.checked_mul(n));
        if product(&self.block).is_none_or(|n| n > MOST_THREADS) {
            return Err(format!("a block of more than {MOST_THREADS} threads"));
        }
        let threads = |d: usize| i128::from(self.grid[d]) * i128::from(self.block[d]);
        let blocks = product(&self.grid);
        let sizes = self.domain.iter().chain(&self.fold).any(|&n| i128::from(n) > MOST);
        if blocks.is_none_or(|n| i128::from(n) > MOST) || (0..3).any(|d| threads(d) > MOST) || sizes {
            return Err("a grid or domain beyond 2^60".to_owned());
        }
        let fields = self.loads.iter().chain(&self.stores);
        let forms = fields.flat_map(|f| f.bytes.iter().chain(f.indices.iter().flatten()));
        let reach = |form: &Form<i64>| {
            let terms = form.terms().iter().map(|(term, factor)| {
                let widest = (0..3).filter(|&d| term.mentions(&|c| is_thread(c, d))).map(threads).max();
                i128::from(*factor).abs() * widest.unwrap_or(1)
            });
            i128::from(*form.constant()).abs() + terms.sum::<i128>()
        };
        if forms.into_iter().any(|f| reach(f) > MOST) {
            return Err("an address beyond 2^60".to_owned());
        }
        Ok(())
    }

    /// Threads of a block.
    pub fn threads(&self) -> i64 {
        self.block.iter().product()
    }

    /// The groups of first bytes that a field may come down to.
    pub fn ways(&self, field: &Accesses) -> Result<Vec<Vec<Form<i64>>>, String> {
        if self.fuses { outcomes(&field.bytes, field.datatype) } else { Ok(vec![field.bytes.clone()]) }
    }

    /// Lines of all accesses of a field together, over boxes.
    pub fn together(&self, field: &Accesses, tiling: Tiling, line: i64) -> Possible {
        self.ways(field)?.iter().map(|way| lines_over(way, tiling, line)).collect()
    }

    /// Lines of each access of a field on its own, over boxes.
    pub fn separately(&self, field: &Accesses, tiling: Tiling, line: i64) -> Possible {
        let one = |way: &Vec<Form<i64>>| {
            way.iter().map(|a| lines_over(std::slice::from_ref(a), tiling, line)).sum()
        };
        self.ways(field)?.iter().map(one).collect()
    }
}

fn is_thread(coord: Coord, dimension: usize) -> bool {
    matches!(coord, Coord::Thread(d) if d.index() == dimension)
}

/// As many arrays as the field stands for.
pub fn times(lines: Possible, field: &Accesses) -> Possible {
    let copies = u128::try_from(field.multiplicity).map_err(|_| "a negative multiplicity".to_owned())?;
    Ok(lines?.into_iter().map(|n| n * copies).collect())
}

/// What a sum over fields may be.
pub fn sum(fields: &[Possible]) -> Possible {
    let mut sums = vec![0];
    for field in fields {
        let of_field = field.as_ref().map_err(String::clone)?;
        sums = sums.iter().flat_map(|s| of_field.iter().map(move |n| s + n)).collect();
        sums.sort_unstable();
        sums.dedup();
        if sums.len() > MOST_SUMS {
            return Err("too many orders in which accesses can be fused".to_owned());
        }
    }
    Ok(sums)
}
