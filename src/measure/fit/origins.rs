//! Sources of the coefficients of a curve file.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use crate::curve::Fit;

/// A name for the source of coefficients of the time that none has which is kept from an earlier fit.
pub(super) fn free_name(fit: &Fit) -> String {
    let (mut name, mut number) = ("times".to_owned(), 1_u64);
    while fit.sources.contains_key(&name) {
        number += 1;
        name = format!("times-{number}");
    }
    name
}

/// Drops sources that no coefficient names.
pub(super) fn prune(fit: &mut Fit) {
    let mut used = BTreeSet::new();
    for part in [serde_json::to_value(&fit.volumes), serde_json::to_value(&fit.time)] {
        collect(&part.expect("coefficients are JSON"), &mut used);
    }
    fit.sources.retain(|name, _| used.contains(name));
}

fn collect(value: &Json, used: &mut BTreeSet<String>) {
    let Json::Object(map) = value else { return };
    if let Some(source) = map.get("source").and_then(Json::as_str) {
        used.insert(source.to_owned());
    }
    map.values().for_each(|v| collect(v, used));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::{CoefficientSource, for_device};
    use crate::device::find;

    #[test]
    fn only_sources_that_are_named_stay() {
        let mut fit = for_device(&find("v100", &[]).unwrap()).fit.clone();
        fit.sources.retain(|name, _| !name.starts_with("times"));
        assert_eq!(free_name(&fit), "times");
        fit.sources.insert("times".to_owned(), CoefficientSource::default());
        fit.sources.insert("nobody".to_owned(), CoefficientSource::default());
        fit.time.l1_pipe.source = "times".to_owned();
        prune(&mut fit);
        assert_eq!(free_name(&fit), "times-2");
        assert!(!fit.sources.contains_key("nobody"));
        // One of a number, one of a curve.
        for kept in [fit.time.latency_norm.source.as_str(), fit.volumes.l2_reuse.source()] {
            assert!(fit.sources.contains_key(kept), "{kept}");
        }
    }
}
