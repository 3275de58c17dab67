//! The canonical score before it is published: a sum of integers.

/// The dot product of two vectors of Q30 components, in Q60.
///
/// Written so that the compiler turns it into the multiplications of whatever instruction set its
/// caller is compiled for; integer sums do not depend on the order.
#[inline(always)]
pub(crate) fn exact(query: &[i32], record: &[i32]) -> i64 {
    const LANES: usize = 16;
    let (queries, query_rest) = query.as_chunks::<LANES>();
    let (records, record_rest) = record.as_chunks::<LANES>();
    let mut sums = [0_i64; LANES];
    for (query, record) in queries.iter().zip(records) {
        for lane in 0..LANES {
            sums[lane] = sums[lane].wrapping_add(i64::from(query[lane]) * i64::from(record[lane]));
        }
    }
    let rest = query_rest
        .iter()
        .zip(record_rest)
        .map(|(&query, &record)| i64::from(query) * i64::from(record));
    sums.into_iter().chain(rest).fold(0, i64::wrapping_add)
}
