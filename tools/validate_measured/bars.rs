//! What has to be reached, and whether it was.

/// Bars in the order in which they were tried.
#[derive(Default)]
pub struct Bars {
    tried: Vec<Bar>,
}

struct Bar {
    what: String,
    value: f64,
    sign: &'static str,
    bound: f64,
    met: bool,
}

impl Bars {
    /// A value that must not be larger.
    pub fn at_most(&mut self, what: &str, value: f64, bound: f64) {
        self.tried.push(Bar { what: what.to_owned(), value, sign: "≤", bound, met: value <= bound });
    }

    /// A value that must not be smaller.
    pub fn at_least(&mut self, what: &str, value: f64, bound: f64) {
        self.tried.push(Bar { what: what.to_owned(), value, sign: "≥", bound, met: value >= bound });
    }

    /// Prints all; whether all are met.
    pub fn print(&self) -> bool {
        println!("\n## Bars of single kernels\n");
        println!("| what | reached | bar | |\n| --- | ---: | ---: | --- |");
        for Bar { what, value, sign, bound, met } in &self.tried {
            let verdict = if *met { "met" } else { "**missed**" };
            println!("| {what} | {} | {sign} {bound} | {verdict} |", short(*value));
        }
        let missed = self.tried.iter().filter(|b| !b.met).count();
        println!("\n{} of {} bars are met.", self.tried.len() - missed, self.tried.len());
        missed == 0
    }
}

/// Three decimals, without the zeros at their end.
fn short(value: f64) -> String {
    format!("{value:.3}").trim_end_matches('0').trim_end_matches('.').to_owned()
}
