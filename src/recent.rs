//! Answers to questions that come again soon.

use std::cell::RefCell;

/// How many answers are kept: statements of a kernel take turns, mostly a few of them.
const MOST: usize = 8;

/// The answers that were found last.
pub(crate) struct Recent<K, V>(RefCell<Kept<K, V>>);

struct Kept<K, V> {
    answers: Vec<(K, V)>,
    oldest: usize,
}

impl<K, V> Default for Recent<K, V> {
    fn default() -> Self {
        Self(RefCell::new(Kept { answers: Vec::new(), oldest: 0 }))
    }
}

impl<K, V: Clone> Recent<K, V> {
    /// The answer to a question that is among the last ones.
    pub(crate) fn find(&self, is: impl Fn(&K) -> bool) -> Option<V> {
        self.0.borrow().answers.iter().find(|known| is(&known.0)).map(|known| known.1.clone())
    }

    /// Keeps an answer, in the place of the oldest one.
    pub(crate) fn keep(&self, question: K, answer: V) {
        let mut kept = self.0.borrow_mut();
        if kept.answers.len() < MOST {
            kept.answers.push((question, answer));
        } else {
            let oldest = kept.oldest;
            kept.answers[oldest] = (question, answer);
            kept.oldest = (oldest + 1) % MOST;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_answer_makes_room() {
        let recent = Recent::default();
        let known = |question: usize| recent.find(|&k| k == question);
        for question in 0..MOST + 2 {
            assert_eq!(known(question), None);
            recent.keep(question, 10 * question);
        }
        assert_eq!(
            [known(0), known(1), known(2), known(MOST + 1)],
            [None, None, Some(20), Some(10 * MOST + 10)]
        );
    }
}
