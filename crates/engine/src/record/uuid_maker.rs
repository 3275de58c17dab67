//! UUIDs of version 7 for records that come without one.

use std::time::{SystemTime, UNIX_EPOCH};

/// The 74 bits of a version 7 UUID that are neither time, version nor variant.
const RANDOM_BITS: u32 = 74;

/// Makes UUIDs of version 7 (RFC 9562), each greater than the one before in byte order.
///
/// The order holds within one maker, also when the clock stands still or goes back:
/// then the random bits count up (RFC 9562, section 6.2, method 2).
#[derive(Debug, Default)]
pub(crate) struct UuidMaker {
    /// Milliseconds above 74 random bits, as one number, so that a full counter carries into the time.
    last: u128,
}

impl UuidMaker {
    /// The next UUID, as its 16 bytes.
    pub(crate) fn make(&mut self) -> [u8; 16] {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_millis());
        self.make_at(now)
    }

    fn make_at(&mut self, now_ms: u128) -> [u8; 16] {
        let random = random_bits();
        self.last = if now_ms > self.last >> RANDOM_BITS {
            now_ms << RANDOM_BITS | random & ((1 << RANDOM_BITS) - 1)
        } else {
            // A random step, so that a UUID does not tell the next one.
            self.last + 1 + (random & 0xffff_ffff)
        };
        layout(self.last)
    }
}

/// Spreads time and random bits around the version (7) and the variant (binary 10).
fn layout(value: u128) -> [u8; 16] {
    let time = value >> RANDOM_BITS;
    let high = value >> 62 & 0xfff;
    let low = value & ((1 << 62) - 1);
    (time << 80 | 7 << 76 | high << 64 | 2 << 62 | low).to_be_bytes()
}

fn random_bits() -> u128 {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("every supported system has a random source");
    u128::from_ne_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::UuidMaker;

    #[test]
    fn carries_time_version_and_variant() {
        let uuid = UuidMaker::default().make_at(0x0190_a0b2_c3d4);
        assert_eq!(uuid[..6], [0x01, 0x90, 0xa0, 0xb2, 0xc3, 0xd4]);
        assert_eq!(uuid[6] >> 4, 7);
        assert_eq!(uuid[8] >> 6, 0b10);
    }

    #[test]
    fn rises_while_the_clock_stands_still_or_goes_back() {
        let mut maker = UuidMaker::default();
        let mut last = [0; 16];
        for step in 0..100_000_u128 {
            let now_ms = 1_000_000 + step / 1_000 - if step % 7 == 0 { 50 } else { 0 };
            let uuid = maker.make_at(now_ms);
            assert!(uuid > last, "step {step}: {uuid:02x?} after {last:02x?}");
            assert_eq!((uuid[6] >> 4, uuid[8] >> 6), (7, 0b10), "step {step}");
            last = uuid;
        }
    }

    #[test]
    fn two_makers_do_not_meet() {
        assert_ne!(
            UuidMaker::default().make_at(5),
            UuidMaker::default().make_at(5)
        );
    }
}
