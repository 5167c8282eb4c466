//! Lines of code with their indentation.

/// Code that grows line by line.
#[derive(Debug, Default)]
pub(super) struct Text {
    out: String,
    depth: usize,
}

impl Text {
    /// A line.
    pub(super) fn line(&mut self, line: &str) {
        if !line.is_empty() {
            for _ in 0..self.depth {
                self.out.push_str("    ");
            }
        }
        self.out.push_str(line);
        self.out.push('\n');
    }

    /// A line after which lines are indented.
    pub(super) fn open(&mut self, line: &str) {
        self.line(line);
        self.depth += 1;
    }

    /// A line before which the indentation ends.
    pub(super) fn close(&mut self, line: &str) {
        self.depth = self.depth.saturating_sub(1);
        self.line(line);
    }

    /// All lines.
    pub(super) fn finish(self) -> String {
        self.out
    }
}
