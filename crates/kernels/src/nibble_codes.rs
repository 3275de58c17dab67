//! The codes of a query that are multiplied with rows of nibbles.

/// The offset of a stored nibble: the nibble is its code plus 8.
const NIBBLE_OFFSET: i32 = 8;

/// Codes of a band that a record stores in nibbles, for each 64 bytes that are loaded of a row.
///
/// The last load of a row of more than 64 bytes ends with the row, so that no cache line of the next row is read. Bytes that
/// the previous load already covered have zero codes, as have those behind a shorter row.
#[derive(Clone, Debug)]
pub(crate) struct NibbleCodes {
    /// Codes of the dimensions that a record stores in the low half of a byte.
    pub(crate) low: Vec<i8>,
    /// Codes of the dimensions that a record stores in the high half of a byte.
    pub(crate) high: Vec<i8>,
    /// Where the last load of a row begins.
    pub(crate) last_load: usize,
    /// What the offset of the nibbles of a record adds to a dot product.
    pub(crate) bias: i32,
}

impl NibbleCodes {
    pub(crate) fn new(codes: &[i8]) -> Self {
        let row_bytes = codes.len() / 2;
        let last_load = row_bytes.saturating_sub(64);
        let [low, high] = [0, 4].map(|first| {
            let mut half = every_other_four(codes, first);
            if last_load > 0 {
                let (loaded, padding) = (half.len() - 64, half.len() - row_bytes);
                half[loaded..].rotate_right(padding);
            }
            half
        });
        Self {
            low,
            high,
            last_load,
            bias: NIBBLE_OFFSET * sum(codes),
        }
    }
}

/// The codes that are multiplied with the low (`first` is 0) or the high (`first` is 4) half of bytes: four of every eight.
fn every_other_four(codes: &[i8], first: usize) -> Vec<i8> {
    let groups = codes.chunks_exact(8);
    padded(
        groups
            .flat_map(|group| &group[first..first + 4])
            .copied()
            .collect(),
    )
}

fn padded(mut codes: Vec<i8>) -> Vec<i8> {
    codes.resize(codes.len().next_multiple_of(64), 0);
    codes
}

pub(crate) fn sum(codes: &[i8]) -> i32 {
    codes.iter().map(|&code| i32::from(code)).sum()
}

#[cfg(test)]
mod tests {
    use super::NibbleCodes;

    #[test]
    fn every_nibble_of_a_row_meets_its_code_once() {
        for row_bytes in [4, 60, 64, 68, 96, 124, 128, 132, 192] {
            let codes: Vec<i8> = (0..2 * row_bytes).map(|at| (at % 127 + 1) as i8).collect();
            let band = NibbleCodes::new(&codes);
            let mut met = vec![[0; 2]; row_bytes.max(64)];
            for start in (0..band.low.len()).step_by(64) {
                for at in start..start + 64 {
                    let byte = start.min(band.last_load) + at - start;
                    met[byte][0] += i32::from(band.low[at]);
                    met[byte][1] += i32::from(band.high[at]);
                }
            }
            let code = |at| codes.get(at).map_or(0, |&code| i32::from(code));
            let expected = |byte: usize| [0, 4].map(|half| code(byte / 4 * 8 + half + byte % 4));
            let expected: Vec<[i32; 2]> = (0..met.len()).map(expected).collect();
            assert_eq!(met, expected, "{row_bytes} bytes");
        }
    }
}
