//! How the planes of the rest narrow bounds, each given the planes before it.

use crate::codes::{RecordMeta, RowResiduals};
use crate::layout::Plane;
use crate::nibble_codes::NibbleCodes;
use crate::query::{Query, Weights};

/// How the bounds of a candidate follow from the dot product with a row.
pub(crate) struct Factors {
    /// Of the dot product.
    pub(crate) dot: f32,
    /// Of the scale: the low nibbles of the tail, if they are not known.
    pub(crate) scale: f32,
}

impl Plane {
    /// The query's codes of the plane's band.
    pub(crate) fn band(self, query: &Query) -> &NibbleCodes {
        match self {
            Self::CoarseLow => &query.codes.coarse,
            Self::TailHigh | Self::TailLow => &query.codes.tail,
            Self::FineLow => &query.codes.fine,
        }
    }

    /// `tail_low_norm` is at least the norm of any record's low nibbles in the tail.
    pub(crate) fn factors(self, weights: &Weights, tail_low_norm: f32) -> Factors {
        let unknown_low = weights.tail_low_norm * tail_low_norm;
        let (dot, scale) = match self {
            Self::TailHigh => (weights.tail_high, unknown_low),
            Self::CoarseLow => (weights.low, unknown_low),
            Self::TailLow => (weights.tail_low, 0.0),
            Self::FineLow => (weights.fine_low, 0.0),
        };
        Factors { dot, scale }
    }

    /// The residuals of a record once the plane is known. The error of unknown low nibbles of the tail is not part of them: it
    /// is in [`Factors::scale`].
    #[inline(always)]
    pub(crate) fn residuals(self, meta: &RecordMeta, row: &RowResiduals) -> RowResiduals {
        let (fine, coarse) = match self {
            Self::TailHigh => (meta.fine_residual, meta.coarse_residual),
            Self::CoarseLow | Self::TailLow => (meta.fine_residual, row.coarse),
            Self::FineLow => (row.fine, row.coarse),
        };
        RowResiduals {
            fine,
            coarse,
            ..*row
        }
    }
}
