//! Codes in two parts, `16h + l`: of the coarse band and the tail as two nibbles, of the fine band as 8 bits and a nibble.

/// `h` of a code `16h + l` with `l` in -8..=7.
pub(crate) fn high_nibble(code: i8) -> i8 {
    // These codes end at 119, so adding 8 stays inside an i8.
    (code + 8) >> 4
}

/// `l` of a code `16h + l`.
pub(crate) fn low_nibble(code: i8) -> i8 {
    code - 16 * high_nibble(code)
}

/// `h` and `l` of a fine code `16h + l` in [`-MAX_FINE_CODE`](MAX_FINE_CODE)..=[`MAX_FINE_CODE`], with `l` in -8..=7.
pub(crate) fn fine_parts(code: i16) -> (i8, i8) {
    let high = (code + 8) >> 4;
    (high as i8, (code - 16 * high) as i8)
}

/// Largest fine code of 12 bits: `16 * 127 + 7`.
pub(crate) const MAX_FINE_CODE: i16 = 2039;

#[cfg(test)]
mod tests {
    use super::{MAX_FINE_CODE, fine_parts, high_nibble, low_nibble};

    #[test]
    fn parts_make_up_every_fine_code() {
        for code in -MAX_FINE_CODE..=MAX_FINE_CODE {
            let (high, low) = fine_parts(code);
            assert_eq!(16 * i16::from(high) + i16::from(low), code);
            assert!(
                (-127..=127).contains(&high) && (-8..=7).contains(&low),
                "{code}"
            );
        }
    }

    #[test]
    fn nibbles_make_up_every_split_code() {
        for code in -119..=119_i8 {
            let (high, low) = (high_nibble(code), low_nibble(code));
            assert_eq!(16 * i32::from(high) + i32::from(low), i32::from(code));
            assert!(
                (-8..=7).contains(&high) && (-8..=7).contains(&low),
                "{code}"
            );
        }
    }
}
