//! The table of coefficients in `docs/model.md` is the one of the program.

use std::fmt::Write;
use std::path::Path;

use wavecast::curve::COEFFICIENTS;

const START: &str = "<!-- coefficients -->\n";
const END: &str = "<!-- end -->";

#[test]
fn the_page_has_the_table_of_the_program() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/model.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(START).expect("docs/model.md has a place for the table");
    let (_, after) = rest.split_once(END).expect("the place has an end");
    let mut table = String::from(
        "| key | unit | `wavecast fit` takes it from | may be left out | what it is |\n| --- | --- | --- | --- | --- |\n",
    );
    for known in &COEFFICIENTS {
        let left_out = if known.is_optional() { "follows from the device" } else { "" };
        let (name, unit, from) = (known.name, known.unit, known.fitted_on.word());
        let _ = writeln!(table, "| `{name}` | {unit} | {from} | {left_out} | {} |", known.meaning);
    }
    let current = format!("{before}{START}{table}{END}{after}");
    if std::env::var_os("WAVECAST_UPDATE").is_some_and(|v| v == "1") {
        std::fs::write(&path, &current).unwrap();
        return;
    }
    assert_eq!(
        page, current,
        "run `WAVECAST_UPDATE=1 cargo test --test coefficients` and look at the difference"
    );
}
