//! Linear algebra over GF(2): masks of bits as vectors.

/// A basis in reduced row echelon form, each row led by its lowest bit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Basis(Vec<u64>);

impl Basis {
    /// Spanned by vectors.
    pub fn spanned(vectors: impl IntoIterator<Item = u64>) -> Self {
        let mut basis = Self::default();
        vectors.into_iter().for_each(|v| {
            basis.add(v);
        });
        basis
    }

    /// Adds a vector; whether it was none of the span.
    pub fn add(&mut self, vector: u64) -> bool {
        let vector = self.reduced(vector);
        if vector == 0 {
            return false;
        }
        let lead = vector & vector.wrapping_neg();
        self.0.iter_mut().filter(|row| **row & lead != 0).for_each(|row| *row ^= vector);
        self.0.push(vector);
        self.0.sort_by_key(|row| row.trailing_zeros());
        true
    }

    /// What is left of a vector when all leading bits are cleared.
    pub fn reduced(&self, vector: u64) -> u64 {
        self.0.iter().fold(vector, |v, row| if v & row & row.wrapping_neg() == 0 { v } else { v ^ row })
    }

    /// Its rows, those of low bits first.
    pub fn rows(&self) -> &[u64] {
        &self.0
    }

    /// The vectors of `bits` bits that are orthogonal to all rows: every mask under which all of the span
    /// has even parity.
    #[must_use]
    pub fn orthogonal(&self, bits: u32) -> Self {
        let lead = |row: &u64| row & row.wrapping_neg();
        let leads: u64 = self.0.iter().map(lead).fold(0, |a, b| a | b);
        let free = (0..bits.min(64)).map(|b| 1_u64 << b).filter(|b| leads & b == 0);
        // For each free bit: it and the leading bits of the rows that contain it.
        Self::spanned(free.map(|f| self.0.iter().filter(|row| *row & f != 0).map(lead).fold(f, |a, b| a | b)))
    }
}

/// The bits of byte addresses that masks of line bits stand for, with lines of so many bytes.
pub(super) fn address_bits(masks: &[u64], line_bytes: u64) -> Vec<Vec<u32>> {
    let low = line_bytes.max(1).trailing_zeros();
    let bits = |mask: &u64| (0..64).filter(|b| mask >> b & 1 == 1).map(|b| b + low).collect();
    masks.iter().map(bits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_orthogonal_space_of_the_kernel_is_the_matrix() {
        // Fermi's hash: the kernel of its masks, and back (N 5.1).
        let masks = Basis::spanned([0x41, 0x82, 0x104, 0x408, 0x1010]);
        let kernel = masks.orthogonal(13);
        assert_eq!(kernel.rows().len(), 8);
        assert!(kernel.rows().iter().all(|k| masks.rows().iter().all(|m| (k & m).count_ones() % 2 == 0)));
        assert_eq!(kernel.orthogonal(13), masks);
        assert_eq!(masks.reduced(0x41 ^ 0x82), 0);
        assert_ne!(masks.reduced(0x40), 0);
    }
}
