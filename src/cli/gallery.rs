//! The kernels that come with Wavecast, and the schema of their format, for the page.

use serde_json::{Value, json};

macro_rules! kernels {
    ($($name:literal),* $(,)?) => {
        /// Names and texts.
        const KERNELS: &[(&str, &str)] = &[
            $(($name, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/", $name, ".yaml")))),*
        ];
    };
}

kernels![
    "allen-cahn-d3q15",
    "axpy-gridstride",
    "box3d27",
    "conv15",
    "conv1d",
    "conv1d-cached",
    "conv1d-tiled",
    "conv2d",
    "conv2d-shared",
    "conv2d-tiled",
    "coulomb",
    "hotspot",
    "integer-matmul",
    "integer-matmul-tiled",
    "laplap2d",
    "lbm-d3q15",
    "lbm-d3q19",
    "matmul-naive",
    "matmul-tiled",
    "matvec",
    "matvec-tiled",
    "minife",
    "mixbench",
    "polybench-2dconv",
    "polybench-3dconv",
    "polybench-atax",
    "polybench-bicg",
    "polybench-gemm",
    "polybench-mvt",
    "star2d4",
    "star2d5",
    "star3d25",
    "star3d7",
    "stream-copy",
    "stream-scale",
    "stream-triad",
    "strided",
    "transpose-naive",
    "transpose-tiled",
    "vec3",
    "xgemm",
];

/// As JSON: texts by names, and the schema.
pub(super) fn gallery() -> String {
    let kernels: serde_json::Map<String, Value> =
        KERNELS.iter().map(|&(name, text)| (name.to_owned(), text.into())).collect();
    let schema = crate::report::schema("kernel").and_then(|text| serde_json::from_str::<Value>(text).ok());
    json!({"kernels": kernels, "schema": schema}).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gallery_has_every_kernel() {
        let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/kernels")).unwrap();
        let mut names: Vec<String> = folder
            .filter_map(|entry| Some(entry.unwrap().file_name().to_str()?.strip_suffix(".yaml")?.to_owned()))
            .collect();
        names.sort();
        assert_eq!(names, KERNELS.iter().map(|k| k.0).collect::<Vec<_>>());
        let gallery: Value = serde_json::from_str(&gallery()).unwrap();
        assert_eq!(gallery["kernels"].as_object().unwrap().len(), names.len());
        assert!(gallery["schema"]["properties"]["launch"].is_object());
    }
}
