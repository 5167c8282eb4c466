//! Our own format of logs.

use std::io::{self, Write};

use super::log::{ChaseOrder, Run};

/// Writes runs so that `read_logs` reads the same.
pub fn write_runs(runs: &[Run], out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "# wavecast-pchase 1: elements and cycles; wavecast help --page cache-probe")?;
    for run in runs {
        let order = match run.order {
            ChaseOrder::Stride => "stride".to_owned(),
            ChaseOrder::Shuffled => "shuffled".to_owned(),
            ChaseOrder::Scattered => "scattered".to_owned(),
            ChaseOrder::Evict { extra } => format!("evict extra={extra}"),
        };
        let cold = u8::from(run.cold);
        writeln!(
            out,
            "# run n={} s={} element={} cold={cold} order={order}",
            run.n, run.stride, run.element
        )?;
        for load in &run.loads {
            writeln!(out, "{},{:.1}", load.index, load.latency)?;
        }
    }
    Ok(())
}
