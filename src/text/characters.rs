//! From characters to bytes.

/// Characters from one mark to the next.
const STEP: usize = 64;

/// Where the characters of a text are. Every character needs no memory of its own: the text may be long.
#[derive(Debug)]
pub(super) struct Characters<'t> {
    text: &'t str,
    /// The byte of every `STEP`th character; none where all characters are single bytes.
    marks: Option<Vec<u32>>,
}

impl<'t> Characters<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let marks = (!text.is_ascii()).then(|| {
            let starts = text.char_indices().step_by(STEP).map(|(i, _)| i);
            starts.map(|i| u32::try_from(i).unwrap_or(u32::MAX)).collect()
        });
        Self { text, marks }
    }

    /// The byte at which a character begins; the end of the text beyond its last one.
    pub(super) fn byte(&self, character: usize) -> usize {
        let Some(marks) = &self.marks else { return character.min(self.text.len()) };
        let from = marks.get(character / STEP).map(|&m| m as usize);
        let rest = from.and_then(|from| Some((from, self.text.get(from..)?)));
        let found = rest.and_then(|(from, rest)| Some(from + rest.char_indices().nth(character % STEP)?.0));
        found.unwrap_or(self.text.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_is_found() {
        for text in [String::new(), "abc".to_owned(), "é".repeat(200), "a漢🦀".repeat(100) + "x"] {
            let characters = Characters::new(&text);
            for (number, (byte, _)) in text.char_indices().enumerate() {
                assert_eq!(characters.byte(number), byte);
            }
            assert_eq!(characters.byte(text.chars().count()), text.len());
            assert_eq!(characters.byte(1 << 40), text.len());
        }
    }
}
