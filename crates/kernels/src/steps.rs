//! The step of each band.

/// The component that code 1 represents in each band, at scale 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steps {
    /// Of the fine band. The unit is that of the 8 bits in the head; one unit of the low nibble is a sixteenth of the step.
    pub fine: f32,
    /// Of the coarse band. One unit of the high nibble is 16 steps.
    pub coarse: f32,
    /// Of the tail.
    pub tail: f32,
}

/// Largest code of the fine band in the head, and of a query.
pub(crate) const MAX_CODE: f32 = 127.0;
/// Largest code of the coarse band and the tail, whose codes are split into nibbles: `16 * 7 + 7`.
pub(crate) const MAX_SPLIT_CODE: f32 = 119.0;
