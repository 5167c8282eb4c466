//! The document of `cache-probe`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::device::Change;
use crate::probe::{
    ChaseOrder, Clusters, Confidence, Figure, Finding, LatencyLevel, Logs, MappingFound, MshrsFound,
    PrefetchFound, Run, SetHash, Structure, infer, levels, mshrs, set_hash,
};
use crate::report::check::Tool;

/// Cache structure from latencies: `wavecast/probe/1`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ProbeDocument {
    /// `wavecast/probe/1`.
    pub schema: &'static str,
    /// The program.
    pub tool: Tool,
    /// The logs.
    pub sources: Vec<String>,
    /// Chases that were read.
    pub runs: usize,
    /// Loads of all chases.
    pub loads: u64,
    /// What was left out of the logs, and why.
    pub warnings: Vec<String>,
    /// Clusters of latencies, the fastest first.
    pub clusters: Vec<ClusterDocument>,
    /// Loads in no cluster.
    pub outliers: u64,
    /// One level, from chases load by load.
    pub structure: Option<StructureDocument>,
    /// Levels, from latency against size.
    pub levels: Vec<LevelDocument>,
    /// The set hash, from what lines put out (N 5.1).
    pub set_hash: Option<SetHashDocument>,
    /// Miss-status holding registers (N 5.2).
    pub mshrs: Option<MshrDocument>,
    /// Throughputs and latencies of other experiments.
    pub figures: Vec<FigureDocument>,
    /// Keys of a device file that follow.
    pub device_keys: Vec<DeviceKey>,
}

/// Latencies that belong together.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ClusterDocument {
    /// Median, in cycles.
    pub cycles: f64,
    /// Relative standard deviation, in percent.
    pub spread_percent: f64,
    /// Loads.
    pub loads: u64,
}

/// Something found.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FindingDocument<T> {
    /// What; null if it is open.
    pub value: Option<T>,
    /// How sure.
    pub confidence: Confidence,
    /// What it rests on.
    pub evidence: Vec<String>,
    /// Further runs that would settle what is open: n and s in elements.
    pub next: Vec<String>,
}

impl<T> FindingDocument<T> {
    fn new<F>(finding: &Finding<F>, value: impl FnOnce(&F) -> T) -> Self {
        Self {
            value: finding.value.as_ref().map(value),
            confidence: finding.confidence,
            evidence: finding.evidence.clone(),
            next: finding.next.clone(),
        }
    }
}

/// The structure of a cache or TLB.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct StructureDocument {
    /// Bytes of a line or page: what gives way as a whole.
    pub line_bytes: FindingDocument<u64>,
    /// Bytes that a miss brings: a sector of the line, or all of it.
    pub sector_bytes: FindingDocument<u64>,
    /// Bytes of all lines.
    pub capacity_bytes: FindingDocument<u64>,
    /// Bytes of the largest array that fits.
    pub fits_bytes: Option<u64>,
    /// Bytes of the smallest array that does not.
    pub overflows_bytes: Option<u64>,
    /// Lines of each set, in the order of the mapping.
    pub ways: FindingDocument<Vec<u32>>,
    /// From lines to sets.
    pub mapping: FindingDocument<MappingDocument>,
    /// lru, fifo, tree-plru, nru, srrip, not lru, direct-mapped.
    pub replacement: FindingDocument<&'static str>,
    /// Lines that come without being asked for.
    pub prefetch: FindingDocument<PrefetchDocument>,
}

/// From lines to sets. Lines count from the beginning of the array.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MappingDocument {
    /// single, bits (remainder by the number of sets), spatial, xor, table.
    pub kind: &'static str,
    /// Number of sets.
    pub sets: usize,
    /// For spatial: consecutive lines of a set.
    pub run: Option<u32>,
    /// For xor: the bits of a byte address whose parity is a bit of the set, for each of them.
    pub address_bits: Option<Vec<Vec<u32>>>,
    /// For table: the set of each line; null where it is not known.
    pub table: Option<Vec<Option<u32>>>,
}

/// A prefetch.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PrefetchDocument {
    /// none, miss (a miss brings more lines), stream (use of a prefetched line does, too).
    pub kind: &'static str,
    /// Lines beyond the one needed, if they are known.
    pub lines: Option<u32>,
}

/// A level: a plateau of latency against size.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LevelDocument {
    /// Median latency, in cycles.
    pub cycles: f64,
    /// First and last size of the plateau, in KiB.
    pub plateau_kib: [f64; 2],
    /// Relative scatter on it, in percent.
    pub scatter_percent: f64,
    /// Where it ends; null for the last.
    pub edge: Option<EdgeDocument>,
}

/// Where a plateau ends.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EdgeDocument {
    /// Last size on the plateau and first size off it, in KiB: the edge lies between.
    pub bracket_kib: [f64; 2],
    /// The middle of the bracket on a logarithmic scale, in KiB: no better than the bracket.
    pub estimate_kib: f64,
    /// Latency of the next plateau over that at the end of this one.
    pub rise: f64,
    /// How sure it is that there is an edge.
    pub confidence: Confidence,
}

/// A set hash.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SetHashDocument {
    /// Bits of a byte address whose parity is a bit of the set, for each of them.
    pub address_bits: Vec<Vec<u32>>,
    /// The same as masks of line bits, in hexadecimal.
    pub masks: Vec<String>,
    /// Bytes of a line.
    pub line_bytes: u64,
    /// Highest address bit that was tried.
    pub highest_bit: u32,
    /// Sets.
    pub sets: usize,
    /// Whether all lines lie as the masks say; if not, the hash is not linear.
    pub linear: bool,
    /// Lines beside the array that were tried.
    pub tried: usize,
    /// Those that put nothing out.
    pub silent: usize,
}

/// Miss-status holding registers.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MshrDocument {
    /// Of a core.
    pub total: FindingDocument<u32>,
    /// The least and the most that the figures leave.
    pub range: Option<[u32; 2]>,
    /// Those that one warp can use.
    pub per_warp: FindingDocument<u32>,
    /// Numbers of warps, each with the most loads of each warp that do not wait.
    pub free: Vec<[u32; 2]>,
}

/// A figure of another experiment.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FigureDocument {
    /// Column that it stood in, which names its unit.
    pub what: String,
    /// The other columns.
    pub at: std::collections::BTreeMap<String, String>,
    /// The figure.
    pub value: f64,
}

/// A number for a device file.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DeviceKey {
    /// Its path, such as `l1.line`.
    pub path: String,
    /// The number with its unit.
    pub value: String,
    /// What it rests on.
    pub note: String,
}

impl From<&DeviceKey> for Change {
    fn from(key: &DeviceKey) -> Self {
        Self { path: key.path.clone(), value: key.value.clone(), note: key.note.clone() }
    }
}

/// What logs say.
pub fn probe_document(sources: Vec<String>, logs: &Logs) -> ProbeDocument {
    let evict = logs.runs.iter().find(|r| matches!(r.order, ChaseOrder::Evict { .. }));
    let chases = logs.runs.iter().any(|r| !matches!(r.order, ChaseOrder::Evict { .. }) && r.loads.len() > 8);
    let structure = chases.then(|| infer(&logs.runs));
    let clusters = structure.as_ref().map_or_else(|| Clusters::new(&logs.runs), |s| s.clusters.clone());
    let line = structure.as_ref().and_then(|s| s.line.value);
    let hash = evict.and_then(|run| {
        let bytes = line.unwrap_or_else(|| run.step()).max(run.step());
        set_hash(&logs.runs, &clusters, bytes).map(|h| hash_document(&h, bytes))
    });
    let levels = levels(&logs.sizes);
    let mshrs = (!logs.mshrs.is_empty()).then(|| mshrs(&logs.mshrs));
    ProbeDocument {
        schema: "wavecast/probe/1",
        tool: Tool::this(),
        sources,
        runs: logs.runs.len(),
        loads: logs.runs.iter().map(|r: &Run| r.loads.len() as u64).sum(),
        warnings: logs.warnings.clone(),
        clusters: clusters
            .all
            .iter()
            .map(|c| ClusterDocument { cycles: c.cycles, spread_percent: 100.0 * c.spread, loads: c.loads })
            .collect(),
        outliers: clusters.outliers,
        structure: structure.as_ref().map(structure_document),
        levels: levels.iter().map(level_document).collect(),
        set_hash: hash,
        mshrs: mshrs.as_ref().map(mshr_document),
        figures: logs.figures.iter().map(figure_document).collect(),
        device_keys: Vec::new(),
    }
}

fn structure_document(s: &Structure) -> StructureDocument {
    let sets = s.ways.value.as_ref().map_or(0, Vec::len);
    let line = s.line.value.unwrap_or(1);
    StructureDocument {
        line_bytes: FindingDocument::new(&s.line, |&l| l),
        sector_bytes: FindingDocument::new(&s.sector, |&l| l),
        capacity_bytes: FindingDocument::new(&s.capacity, |&c| c),
        fits_bytes: s.edge.0,
        overflows_bytes: s.edge.1,
        ways: FindingDocument::new(&s.ways, Clone::clone),
        mapping: FindingDocument::new(&s.mapping, |m| mapping_document(m, sets, line)),
        replacement: FindingDocument::new(&s.replacement, |r| r.word()),
        prefetch: FindingDocument::new(&s.prefetch, |p| prefetch_document(*p)),
    }
}

/// The address bits of masks of line bits.
fn address_bits(masks: &[u64], line: u64) -> Vec<Vec<u32>> {
    let low = line.max(1).trailing_zeros();
    let bits = |mask: &u64| (0..64).filter(|b| mask >> b & 1 == 1).map(|b| b + low).collect();
    masks.iter().map(bits).collect()
}

fn mapping_document(found: &MappingFound, sets: usize, line: u64) -> MappingDocument {
    let (mut run, mut bits, mut table, mut count) = (None, None, None, sets);
    match found {
        MappingFound::Single => count = 1,
        MappingFound::Bits { sets } => count = *sets as usize,
        MappingFound::Spatial { run: r, sets } => (run, count) = (Some(*r), *sets as usize),
        MappingFound::Xor { masks, .. } => bits = Some(address_bits(masks, line)),
        MappingFound::Table { sets } => table = Some(sets.clone()),
    }
    MappingDocument { kind: found.word(), sets: count, run, address_bits: bits, table }
}

fn prefetch_document(found: PrefetchFound) -> PrefetchDocument {
    match found {
        PrefetchFound::None => PrefetchDocument { kind: "none", lines: None },
        PrefetchFound::AtMiss { distance } => PrefetchDocument { kind: "miss", lines: Some(distance) },
        PrefetchFound::Stream { distance } => PrefetchDocument { kind: "stream", lines: distance },
    }
}

fn level_document(level: &LatencyLevel) -> LevelDocument {
    LevelDocument {
        cycles: level.cycles,
        plateau_kib: [level.plateau.0, level.plateau.1],
        scatter_percent: 100.0 * level.scatter,
        edge: level.edge.map(|e| EdgeDocument {
            bracket_kib: [e.on, e.off],
            estimate_kib: e.estimate,
            rise: e.rise,
            confidence: e.confidence,
        }),
    }
}

fn hash_document(hash: &SetHash, line: u64) -> SetHashDocument {
    SetHashDocument {
        address_bits: address_bits(&hash.masks, line),
        masks: hash.masks.iter().map(|m| format!("{m:#x}")).collect(),
        line_bytes: line,
        highest_bit: hash.bits.saturating_sub(1) + line.max(1).trailing_zeros(),
        sets: hash.classes,
        linear: hash.linear,
        tried: hash.tried.0,
        silent: hash.tried.1,
    }
}

fn mshr_document(found: &MshrsFound) -> MshrDocument {
    MshrDocument {
        total: FindingDocument::new(&found.total, |&t| t),
        range: found.range.map(|r| [r.0, r.1]),
        per_warp: FindingDocument::new(&found.per_warp, |&p| p),
        free: found.free.iter().map(|f| [f.0, f.1]).collect(),
    }
}

fn figure_document(figure: &Figure) -> FigureDocument {
    FigureDocument { what: figure.what.clone(), at: figure.at.iter().cloned().collect(), value: figure.value }
}
