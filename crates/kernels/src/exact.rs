//! The exact dot product, from which the score is computed.

/// The dot product of two vectors of Q30 components, in Q60.
///
/// The compiler vectorises this loop for the instruction set of the caller; its code for a chunked loop is slower. A sum of
/// integers does not depend on the order.
#[inline(always)]
pub(crate) fn exact(query: &[i32], record: &[i32]) -> i64 {
    query
        .iter()
        .zip(record)
        .map(|(&query, &record)| i64::from(query) * i64::from(record))
        .fold(0, i64::wrapping_add)
}
