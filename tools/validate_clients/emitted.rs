//! Kernels as generators emitted them, and what their threads touch.

use std::collections::BTreeMap;

use serde_json::Value;

use super::symbolic::integer;
use super::{Outcome, Touches};

/// A kernel as the generator emitted it.
pub struct Emitted {
    accesses: Vec<EmittedAccess>,
    /// Each `LEFT < RIGHT`.
    pub guards: Vec<String>,
    loops: Vec<EmittedLoop>,
}

struct EmittedAccess {
    kind: String,
    field: String,
    /// Terms of the element offset: an expression and its factor.
    terms: Vec<(String, i128)>,
    loops: Vec<String>,
}

struct EmittedLoop {
    variable: String,
    start: String,
    /// One past the last value.
    stop: String,
    step: String,
}

impl Emitted {
    /// What a file of a generator says.
    pub fn new(client: &Value) -> Self {
        let strides: BTreeMap<String, Vec<i128>> = array(&client["fields"])
            .iter()
            .map(|f| {
                (
                    text(&f["name"]),
                    array(&f["strides"]).iter().filter_map(Value::as_i64).map(i128::from).collect(),
                )
            })
            .collect();
        let accesses = array(&client["accesses"]).iter().map(|a| {
            let field = text(&a["field"]);
            let terms = match a.get("element_offset") {
                Some(offset) => vec![(text(offset), 1)],
                None => array(&a["index"]).iter().map(text).zip(strides[&field].iter().copied()).collect(),
            };
            let loops = a.get("loops").map(|l| array(l).iter().map(text).collect()).unwrap_or_default();
            EmittedAccess { kind: text(&a["kind"]), field, terms, loops }
        });
        let loops = array(&client["loops"]).iter().map(|l| {
            let variable = text(&l["var"]);
            if let Some(bounds) = l.get("bounds") {
                // `{ [(4095)] }`
                let number = |v: &Value| {
                    text(v).chars().filter(|c| c.is_ascii_digit() || *c == '-').collect::<String>()
                };
                let (low, high) = (number(&bounds[0]), number(&bounds[1]));
                return EmittedLoop { variable, start: low, stop: format!("{high} + 1"), step: "1".into() };
            }
            EmittedLoop { variable, start: text(&l["start"]), stop: text(&l["stop"]), step: text(&l["step"]) }
        });
        let guards = client.get("guards").map(|g| array(g).iter().map(text).collect()).unwrap_or_default();
        Self { accesses: accesses.collect(), guards, loops: loops.collect() }
    }

    /// What a thread touches.
    pub fn touches(
        &self,
        shape: [i64; 3],
        grid: [i64; 3],
        block: [i64; 3],
        thread: [i64; 3],
    ) -> Outcome<Touches> {
        let mut names: BTreeMap<String, i128> =
            [("t0", 0), ("t1", 1), ("t2", 2)].map(|(n, v)| (n.to_owned(), v)).into();
        for (d, letter) in ["x", "y", "z"].iter().enumerate() {
            let values = [
                ("threadIdx", thread[d]),
                ("blockIdx", block[d]),
                ("blockDim", shape[d]),
                ("gridDim", grid[d]),
            ];
            for (name, value) in values {
                names.insert(format!("{name}.{letter}"), value.into());
            }
            names.insert(format!("t{letter}"), (block[d] * shape[d] + thread[d]).into());
        }
        let mut touches = Touches::new();
        for access in &self.accesses {
            let around: Vec<&EmittedLoop> =
                self.loops.iter().filter(|l| access.loops.contains(&l.variable)).collect();
            self.repeat(access, &around, &mut names, &mut touches)?;
        }
        Ok(touches)
    }

    fn repeat(
        &self,
        access: &EmittedAccess,
        loops: &[&EmittedLoop],
        names: &mut BTreeMap<String, i128>,
        out: &mut Touches,
    ) -> Outcome<()> {
        if let Some((outer, inner)) = loops.split_first() {
            let (mut k, stop, step) =
                (integer(&outer.start, names)?, integer(&outer.stop, names)?, integer(&outer.step, names)?);
            while k < stop {
                names.insert(outer.variable.clone(), k);
                self.repeat(access, inner, names, out)?;
                k += step;
            }
            return Ok(());
        }
        for guard in &self.guards {
            let (left, right) = guard.split_once('<').ok_or(format!("guard {guard}"))?;
            if integer(left, names)? >= integer(right, names)? {
                return Ok(());
            }
        }
        let mut element = 0;
        for (term, factor) in &access.terms {
            element += integer(term, names)? * factor;
        }
        out.insert((
            access.kind.clone(),
            access.field.clone(),
            i64::try_from(element).map_err(|e| e.to_string())?,
        ));
        Ok(())
    }
}

/// The items of a list, none of what is no list.
pub fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A text as it is, anything else as JSON.
pub fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
