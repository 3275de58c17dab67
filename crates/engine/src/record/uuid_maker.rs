//! UUIDs of version 7 for records that come without one.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use uuid::{ContextV7, Timestamp, Uuid};

/// Makes UUIDs of version 7 (RFC 9562), each greater than the one before in byte order.
///
/// The order holds within one maker, also when the clock does not advance or goes back: then a counter of 42 bits, which
/// starts at a random number, is incremented (RFC 9562, section 6.2, method 1). The last 32 bits of each UUID are random,
/// so that the next UUID cannot be predicted.
#[derive(Debug, Default)]
pub(crate) struct UuidMaker {
    context: ContextV7,
}

impl UuidMaker {
    /// The next UUID, as its 16 bytes.
    pub(crate) fn make(&mut self) -> [u8; 16] {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        self.make_at(now.unwrap_or_default())
    }

    fn make_at(&mut self, now: Duration) -> [u8; 16] {
        let time = Timestamp::from_unix(&self.context, now.as_secs(), now.subsec_nanos());
        Uuid::new_v7(time).into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carries_time_version_and_variant() {
        let uuid = UuidMaker::default().make_at(Duration::from_millis(0x0190_a0b2_c3d4));
        assert_eq!(uuid[..6], [0x01, 0x90, 0xa0, 0xb2, 0xc3, 0xd4]);
        assert_eq!(uuid[6] >> 4, 7);
        assert_eq!(uuid[8] >> 6, 0b10);
    }

    #[test]
    fn increases_while_the_clock_stops_or_goes_back() {
        let mut maker = UuidMaker::default();
        let mut last = [0; 16];
        for step in 0..100_000_u64 {
            let now_ms = 1_000_000 + step / 1_000 - if step % 7 == 0 { 50 } else { 0 };
            let uuid = maker.make_at(Duration::from_millis(now_ms));
            assert!(uuid > last, "step {step}: {uuid:02x?} after {last:02x?}");
            assert_eq!((uuid[6] >> 4, uuid[8] >> 6), (7, 0b10), "step {step}");
            last = uuid;
        }
    }

    #[test]
    fn two_makers_give_different_uuids() {
        assert_ne!(
            UuidMaker::default().make_at(Duration::from_millis(5)),
            UuidMaker::default().make_at(Duration::from_millis(5))
        );
    }
}
