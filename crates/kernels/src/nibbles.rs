//! A code of the coarse band or the tail as two nibbles: `16h + l`.

/// `h` of a code `16h + l` with `l` in -8..=7.
pub(crate) fn high_nibble(code: i8) -> i8 {
    // These codes end at 119, so adding 8 stays inside an i8.
    (code + 8) >> 4
}

/// `l` of a code `16h + l`.
pub(crate) fn low_nibble(code: i8) -> i8 {
    code - 16 * high_nibble(code)
}

#[cfg(test)]
mod tests {
    use super::{high_nibble, low_nibble};

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
