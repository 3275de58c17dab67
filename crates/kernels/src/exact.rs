//! The canonical score before it is published: a sum of integers.

/// The dot product of two vectors of Q30 components, in Q60.
///
/// Left to the compiler, which turns this loop into the multiplications of whatever instruction
/// set its caller is compiled for; a chunked one it does worse. Integer sums do not depend on the
/// order.
#[inline(always)]
pub(crate) fn exact(query: &[i32], record: &[i32]) -> i64 {
    query
        .iter()
        .zip(record)
        .map(|(&query, &record)| i64::from(query) * i64::from(record))
        .fold(0, i64::wrapping_add)
}
