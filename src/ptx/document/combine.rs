//! Readings for several blocks as one text: numbers that differ are written with the block's size.

use crate::ptx::value::BlockAndGrid;

/// A text with its numbers apart.
struct Apart<'a> {
    texts: Vec<&'a str>,
    numbers: Vec<i64>,
}

fn apart(text: &str) -> Option<Apart<'_>> {
    let bytes = text.as_bytes();
    let (mut texts, mut numbers, mut from, mut at) = (Vec::new(), Vec::new(), 0, 0);
    while at < bytes.len() {
        let starts = bytes[at].is_ascii_digit()
            && (at == 0 || !(bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_'));
        if !starts {
            at += 1;
            continue;
        }
        let end = at + bytes[at..].iter().take_while(|b| b.is_ascii_digit()).count();
        texts.push(&text[from..at]);
        numbers.push(text[at..end].parse().ok()?);
        (from, at) = (end, end);
    }
    texts.push(&text[from..]);
    Some(Apart { texts, numbers })
}

/// The products of sizes that numbers may be multiples of.
const PRODUCTS: [(&str, &[usize]); 10] = [
    ("blockDim.x", &[0]),
    ("blockDim.y", &[1]),
    ("blockDim.z", &[2]),
    ("blockDim.x*blockDim.y", &[0, 1]),
    ("blockDim.x*blockDim.y*blockDim.z", &[0, 1, 2]),
    ("gridDim.x", &[3]),
    ("gridDim.y", &[4]),
    ("blockDim.x*gridDim.x", &[0, 3]),
    ("blockDim.y*gridDim.y", &[1, 4]),
    ("blockDim.x*blockDim.y*gridDim.x*gridDim.y", &[0, 1, 3, 4]),
];

fn size(launch: &BlockAndGrid, factors: &[usize]) -> i64 {
    let [bx, by, bz] = *launch.block;
    let [gx, gy, _] = *launch.grid;
    factors.iter().map(|f| [bx, by, bz, gx, gy][*f]).product()
}

/// What the numbers are in terms of the launch.
fn formula(launches: &[BlockAndGrid], numbers: &[i64]) -> Option<String> {
    if numbers.iter().all(|n| *n == numbers[0]) {
        return Some(numbers[0].to_string());
    }
    for less in [0, 1] {
        for (name, factors) in PRODUCTS {
            let mut ratio = None;
            let all = launches.iter().zip(numbers).all(|(launch, n)| {
                let size = size(launch, factors);
                let whole = n + less;
                whole % size == 0 && *ratio.get_or_insert(whole / size) == whole / size
            });
            let Some(ratio) = ratio.filter(|r| all && *r > 0) else { continue };
            let product = if ratio == 1 { name.to_owned() } else { format!("{ratio}*{name}") };
            return Some(if less == 0 { product } else { format!("({product} - {less})") });
        }
    }
    for (name, factors) in PRODUCTS {
        let mut ratio = None;
        let all = launches.iter().zip(numbers).all(|(launch, n)| {
            let size = size(launch, factors);
            *n > 0 && size % n == 0 && *ratio.get_or_insert(size / n) == size / n
        });
        if let Some(ratio) = ratio.filter(|_| all) {
            return Some(format!("({name}/{ratio})"));
        }
    }
    None
}

/// One text for all launches, if there is one: each launch's text follows from it by putting its sizes in.
pub(in crate::ptx) fn combine(launches: &[BlockAndGrid], texts: &[String]) -> Option<String> {
    // Of a single launch, all numbers are as they stand.
    if let [only] = texts {
        return Some(only.clone());
    }
    let parts: Vec<Apart<'_>> = texts.iter().map(|t| apart(t)).collect::<Option<_>>()?;
    let first = parts.first()?;
    if parts.iter().any(|p| p.texts != first.texts) {
        return None;
    }
    let mut out = String::new();
    for (at, text) in first.texts.iter().enumerate() {
        out += text;
        if at < first.numbers.len() {
            let numbers: Vec<i64> = parts.iter().map(|p| p.numbers[at]).collect();
            let formula = formula(launches, &numbers)?;
            // Products stand in products, but a quotient takes what follows as one.
            let divides = text.ends_with('/') && formula.contains('*');
            let formula = if divides { ["(", &formula, ")"].concat() } else { formula };
            out.push_str(&formula);
        }
    }
    Some(out)
}

/// The grids of all launches as one text: numbers, or enough blocks for so many threads.
pub(in crate::ptx) fn grids(launches: &[BlockAndGrid]) -> Option<String> {
    let along = |d: usize| -> Option<String> {
        let first = launches.first()?.grid[d];
        if launches.iter().all(|l| l.grid[d] == first) {
            return Some(first.to_string());
        }
        // So many threads need just as many blocks in each launch.
        let threads = launches.iter().map(|l| l.grid[d] * l.block[d]).min()?;
        let fits = launches.iter().all(|l| (threads + l.block[d] - 1) / l.block[d] == l.grid[d]);
        let axis = ['x', 'y', 'z'][d];
        fits.then(|| format!("\"({threads} + blockDim.{axis} - 1) / blockDim.{axis}\""))
    };
    Some(format!("[{}, {}, {}]", along(0)?, along(1)?, along(2)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::{Block, Grid};

    #[test]
    fn grids_become_formulas() {
        let launches = [[32, 8], [64, 4], [48, 1]].map(|[x, y]: [i64; 2]| BlockAndGrid {
            block: Block::known([x, y, 1]),
            grid: Grid::known([(100 + x - 1) / x, (77 + y - 1) / y, 3]),
        });
        let wanted = |y| {
            format!("[\"(128 + blockDim.x - 1) / blockDim.x\", \"({y} + blockDim.y - 1) / blockDim.y\", 3]")
        };
        assert_eq!(grids(&launches[..2]), Some(wanted(80)));
        // 128 threads are three blocks of 48.
        assert_eq!(grids(&launches), Some(wanted(77)));
        assert_eq!(grids(&[launches[0], BlockAndGrid { grid: Grid::known([9, 1, 1]), ..launches[1] }]), None);
    }

    fn launch(threads: i64) -> BlockAndGrid {
        BlockAndGrid { block: Block::known([threads, 1, 1]), grid: Grid::known([1024 / threads, 1, 1]) }
    }

    #[test]
    fn numbers_become_sizes() {
        let launches = [64, 128].map(launch);
        let both = |texts: [&str; 2]| combine(&launches, &texts.map(str::to_owned));
        assert_eq!(both(["x + 64*b", "x + 128*b"]).as_deref(), Some("x + blockDim.x*b"));
        assert_eq!(both(["x_64 - 63", "x_64 - 127"]).as_deref(), Some("x_64 - (blockDim.x - 1)"));
        assert_eq!(both(["(a/192)", "(a/384)"]).as_deref(), Some("(a/(3*blockDim.x))"));
        assert_eq!(both(["7", "7"]).as_deref(), Some("7"));
        assert_eq!(both(["7", "9"]), None);
        assert_eq!(both(["a 7", "b 7"]), None);
    }
}
