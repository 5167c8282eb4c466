//! Each operation on random formulas, against machine integers.
