//! The formats that can be read.

/// What profilers and tuners write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProfileFormat {
    /// Nsight Compute `--csv`: one metric a line.
    NcuLong,
    /// Nsight Compute `--csv --page raw`: one launch a line.
    NcuRaw,
    /// rocprofv3 `counter_collection.csv`: one counter a line.
    Rocprof,
    /// rocprofiler-compute `pmc_perf.csv`: one dispatch a line.
    RocprofCompute,
    /// A Kernel Tuner cache file, also one without its end.
    KernelTuner,
    /// T4 results, as Kernel Tuner writes them.
    T4,
    /// KTT's JSON.
    Ktt,
    /// Any table with a head; the columns are mapped.
    Csv,
}
