//! What a residual costs, in the forms of Triggs et al., "Bundle adjustment - a modern synthesis" (1999):
//! the cost of all is 1/2 C^2 sum rho((r / C)^2).

use crate::named::named;

named! {
    /// A loss over residuals.
    #[derive(Default)]
    pub enum Loss {
        /// Squares: outliers decide.
        Linear = "linear",
        /// Squares that turn into amounts smoothly.
        SoftL1 = "soft-l1",
        /// Squares up to the scale, amounts beyond.
        Huber = "huber",
        /// Logarithms: an outlier counts the less, the further away it lies.
        #[default]
        Cauchy = "cauchy",
    }
}

/// The value of rho and of its first two derivatives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rho {
    pub(super) value: f64,
    pub(super) first: f64,
    pub(super) second: f64,
}

impl Loss {
    /// All of them.
    pub const ALL: [Loss; 4] = [Loss::Linear, Loss::SoftL1, Loss::Huber, Loss::Cauchy];

    /// The scale, in standard deviations of normal residuals, that gives away 5 % of efficiency where
    /// there is no outlier (Holland and Welsch, "Robust regression using iteratively reweighted
    /// least-squares", 1977; soft L1: computed in the same way).
    pub(super) fn tuning(self) -> f64 {
        match self {
            Loss::Linear => 1.0,
            Loss::SoftL1 => 1.3,
            Loss::Huber => 1.345,
            Loss::Cauchy => 2.385,
        }
    }

    pub(super) fn rho(self, z: f64) -> Rho {
        match self {
            Loss::Linear => Rho { value: z, first: 1.0, second: 0.0 },
            Loss::SoftL1 => {
                let t = (1.0 + z).sqrt();
                Rho { value: 2.0 * (t - 1.0), first: 1.0 / t, second: -0.5 / (t * t * t) }
            }
            Loss::Huber if z <= 1.0 => Rho { value: z, first: 1.0, second: 0.0 },
            Loss::Huber => {
                let t = z.sqrt();
                Rho { value: 2.0 * t - 1.0, first: 1.0 / t, second: -0.5 / (t * t * t) }
            }
            Loss::Cauchy => {
                let t = 1.0 / (1.0 + z);
                Rho { value: z.ln_1p(), first: t, second: -t * t }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_are_those_of_the_value() {
        for loss in Loss::ALL {
            for z in [0.01, 0.5, 0.99, 1.01, 3.0, 50.0] {
                let h = 1e-6 * z;
                let (up, down, at) = (loss.rho(z + h), loss.rho(z - h), loss.rho(z));
                assert!((((up.value - down.value) / (2.0 * h)) - at.first).abs() < 1e-6, "{loss:?} {z}");
                assert!((((up.first - down.first) / (2.0 * h)) - at.second).abs() < 1e-6, "{loss:?} {z}");
            }
        }
    }
}
