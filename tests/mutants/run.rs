//! Running cases: how long each takes, how much memory it needs, and what is told of those that fail.

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::allocator::{CASE, measured};
use super::formats::{FORMATS, Format};
use super::random::Rng;

/// Longest that a case may take of processors, measured again before it counts: other programs run, too.
const LONGEST: Duration = Duration::from_secs(10);
/// Beyond this a case is taken for endless.
const ENDLESS_SECONDS: u64 = 120;
/// Most memory of a case.
const MOST_MEMORY: usize = 1 << 30;
/// Cases per thread; the thread's name tells a stack overflow's place.
const CHUNK: u64 = 500;

/// Which cases are run.
pub struct Plan {
    seed: u64,
    first: u64,
    cases: u64,
    most_failures: usize,
    formats: Vec<&'static Format>,
}

impl Plan {
    pub fn of_environment(cases: u64) -> Self {
        let name = std::env::var("WAVECAST_FUZZ_FORMAT").ok();
        let formats: Vec<&Format> = FORMATS
            .iter()
            .filter(|f| name.as_deref().is_none_or(|n| n.split(',').any(|n| n == f.name)))
            .collect();
        assert!(!formats.is_empty(), "WAVECAST_FUZZ_FORMAT={name:?} is none of the formats");
        Self {
            seed: number("WAVECAST_FUZZ_SEED", 1),
            first: number("WAVECAST_FUZZ_FIRST", 0),
            cases: number("WAVECAST_FUZZ_CASES", cases),
            most_failures: usize::try_from(number("WAVECAST_FUZZ_FAILURES", 20)).unwrap(),
            formats,
        }
    }

    fn format(&self, case: u64) -> &'static Format {
        self.formats[usize::try_from(case % self.formats.len() as u64).unwrap()]
    }

    /// What repeats a case.
    fn repeats(&self, case: u64) -> String {
        let formats: Vec<&str> = self.formats.iter().map(|f| f.name).collect();
        format!(
            "WAVECAST_FUZZ_SEED={} WAVECAST_FUZZ_FIRST={case} WAVECAST_FUZZ_CASES=1 WAVECAST_FUZZ_FORMAT={}",
            self.seed,
            formats.join(",")
        )
    }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name}={text}")))
}

/// What came of the cases of a format.
pub struct Tally {
    pub format: &'static str,
    pub cases: u64,
    pub read: u64,
    longest: (Duration, u64),
    largest: (usize, u64),
    pub failures: Vec<String>,
}

/// Runs all cases.
pub fn all(plan: &Plan) -> Vec<Tally> {
    let mut tallies: Vec<Tally> = plan.formats.iter().map(|f| Tally::new(f.name)).collect();
    std::thread::scope(|scope| {
        scope.spawn(|| watch(plan));
        let mut at = plan.first;
        while at < plan.first + plan.cases
            && tallies.iter().map(|t| t.failures.len()).sum::<usize>() < plan.most_failures
        {
            let end = (at + CHUNK).min(plan.first + plan.cases);
            // A stack overflow ends the process and tells no more than the thread's name.
            let name = format!("seed {} cases {at}..{end}", plan.seed);
            let mut carried = std::mem::take(&mut tallies);
            let chunk = move || {
                for case in at..end {
                    CASE.store(case, Ordering::Relaxed);
                    let tally = usize::try_from(case % plan.formats.len() as u64).unwrap();
                    carried[tally].add(plan, case);
                }
                carried
            };
            let thread = std::thread::Builder::new().name(name).spawn_scoped(scope, chunk).unwrap();
            tallies = thread.join().unwrap();
            at = end;
        }
        CASE.store(u64::MAX, Ordering::Relaxed);
    });
    tallies
}

/// Ends the process if one case takes too long: a thread cannot be stopped from outside.
fn watch(plan: &Plan) {
    let (mut last, mut since) = (u64::MAX, Instant::now());
    loop {
        std::thread::sleep(Duration::from_millis(200));
        let now = CASE.load(Ordering::Relaxed);
        if now == u64::MAX {
            return;
        }
        if now != last {
            (last, since) = (now, Instant::now());
        } else if since.elapsed().as_secs() > ENDLESS_SECONDS {
            eprintln!("{} does not end", plan.repeats(now));
            std::process::abort();
        }
    }
}

impl Tally {
    fn new(format: &'static str) -> Self {
        let (longest, largest) = ((Duration::ZERO, 0), (0, 0));
        Self { format, cases: 0, read: 0, longest, largest, failures: Vec::new() }
    }

    fn add(&mut self, plan: &Plan, case: u64) {
        let format = plan.format(case);
        let text = format.text(&mut Rng::of_case(plan.seed, case));
        let mut run = Run::of(format, &text, plan, case);
        for _ in 0..2 {
            if run.took > LONGEST {
                run.took = run.took.min(Run::of(format, &text, plan, case).took);
            }
        }
        self.cases += 1;
        self.longest = self.longest.max((run.took, case));
        self.largest = self.largest.max((run.bytes, case));
        let problem = match run.result {
            Err(cause) => format!("panicked: {cause}"),
            Ok(_) if run.took > LONGEST => format!("took {:?}", run.took),
            Ok(_) if run.bytes > MOST_MEMORY => format!("used {} MB", run.bytes >> 20),
            Ok(read) => {
                self.read += u64::from(read);
                return;
            }
        };
        let shown = String::from_utf8_lossy(&text);
        let report =
            format!("{} {problem}\n{} of {} bytes:\n{shown}\n", plan.repeats(case), format.name, text.len());
        eprintln!("{report}");
        self.failures.push(report);
    }
}

struct Run {
    result: Result<bool, String>,
    took: Duration,
    bytes: usize,
}

impl Run {
    fn of(format: &Format, text: &[u8], plan: &Plan, case: u64) -> Self {
        let started = processors();
        // The random choices of the run are the same each time.
        let mut rng = Rng::of_case(!plan.seed, case);
        let (result, bytes) = measured(|| catch_unwind(AssertUnwindSafe(|| (format.run)(text, &mut rng))));
        let took = processors().saturating_sub(started);
        let result = result.map_err(|cause| {
            let text = cause.downcast_ref::<String>().cloned();
            text.or_else(|| cause.downcast_ref::<&str>().map(|s| (*s).to_owned())).unwrap_or_default()
        });
        Self { result, took, bytes }
    }
}

/// The time of processors that this program has used so far; the time of the clock where the system does not tell.
fn processors() -> Duration {
    static BEGAN: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    let elapsed = BEGAN.get_or_init(Instant::now).elapsed();
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Behind the name, which stands in brackets: user and system time are the 12th and 13th, in hundredths.
    let ticks = stat.rsplit_once(')').map(|(_, rest)| rest.split_whitespace().skip(11).take(2));
    let ticks = ticks.map(|t| t.filter_map(|n| n.parse::<u64>().ok()).sum::<u64>()).filter(|&t| t > 0);
    ticks.map_or(elapsed, |ticks| Duration::from_millis(10 * ticks))
}

/// What came of all formats.
pub fn table(plan: &Plan, tallies: &[Tally]) -> String {
    let mut out = format!("seed {}, cases from {}\n", plan.seed, plan.first);
    for t in tallies {
        let (seconds, megabytes) = (t.longest.0.as_secs_f64(), t.largest.0 as f64 / 1e6);
        let _ = writeln!(
            out,
            "{:<13} {:>8} cases, {:>7} read, {} failed, longest {seconds:.2} s (case {}), largest {megabytes:.1} MB (case {})",
            t.format,
            t.cases,
            t.read,
            t.failures.len(),
            t.longest.1,
            t.largest.1
        );
    }
    out
}
