//! Curve files as text.

use serde_json::{Error, Map, Value as Json};

use crate::curve::Fit;
use crate::report::yaml::yaml_text;

/// A curve file; if it inherits, without what is the same in the other file and comes from there.
pub fn curve_file(fit: &Fit, inherit: Option<&Fit>) -> Result<String, Error> {
    let mut value = serde_json::to_value(fit)?;
    if let (Some(base), Json::Object(own)) = (inherit, &mut value) {
        let below = serde_json::to_value(base.inherited_by(&fit.id))?;
        for part in ["sources", "volumes", "time"] {
            if let (Some(Json::Object(mine)), Some(theirs)) = (own.get_mut(part), below.get(part)) {
                mine.retain(|key, value| theirs.get(key) != Some(value));
            }
        }
        own.retain(|_, part| part.as_object().is_none_or(|m| !m.is_empty()));
        let mut with_base = Map::new();
        for (key, part) in std::mem::take(own) {
            let is_id = key == "id";
            with_base.insert(key, part);
            if is_id {
                with_base.insert("inherit".to_owned(), base.id.clone().into());
            }
        }
        *own = with_base;
    }
    let comment = "# Written by `wavecast fit`. `wavecast help fits` says what the coefficients mean.\n";
    Ok(comment.to_owned() + &yaml_text(&value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::{for_device, read};
    use crate::device::find;

    #[test]
    fn a_file_that_inherits_reads_as_the_whole() {
        let device = find("v100", &[]).unwrap();
        let base = &for_device(&device).fit.for_heir(&device);
        let mut fit = base.clone();
        fit.id = "mine".to_owned();
        fit.time.l1_pipe.value = 1.5;
        let whole = curve_file(&fit, None).unwrap();
        assert_eq!(Fit { file: None, ..read("whole", &whole).unwrap() }, fit);
        let short = curve_file(&fit, Some(base)).unwrap();
        assert!(short.contains("inherit: v100-pcie-32gb") && !short.contains("side_norm"), "{short}");
        assert!(short.contains("launch_seconds"), "what holds for the V100 alone is not inherited: {short}");
        let back = read("short", &short).unwrap();
        assert_eq!((back.time, back.volumes), (fit.time, fit.volumes));
    }
}
