//! Cursors: a position in the order of a search, written as the specification shows it.

use crate::record::identity::{IdKey, MAX_RECORD_ID, RecordUuid, Variant};
use crate::record::order::Position;
use crate::record::score::Score;

/// Reads a search cursor: `0.734512389|<uuid>` in variant A, `0.734512389_42` in variant B.
#[must_use]
pub(crate) fn parse(variant: Variant, text: &str) -> Option<Position> {
    let (score, id) = text.split_once(separator(variant))?;
    Some(Position {
        score: Score::parse(score)?,
        id: parse_id(variant, id)?,
    })
}

/// Appends the cursor of `position`.
pub(crate) fn write(variant: Variant, position: Position, out: &mut Vec<u8>) {
    position.score.write(out);
    out.push(separator(variant) as u8);
    write_id(variant, position.id, out);
}

/// The character between the parts of a cursor.
#[must_use]
pub(crate) fn separator(variant: Variant) -> char {
    match variant {
        Variant::A => '|',
        Variant::B | Variant::Both => '_',
    }
}

/// Reads a record's identity as `variant` shows it.
#[must_use]
pub(crate) fn parse_id(variant: Variant, text: &str) -> Option<IdKey> {
    match variant {
        Variant::A => RecordUuid::parse(text).map(|uuid| IdKey(u128::from_be_bytes(uuid.0))),
        Variant::B | Variant::Both => parse_integer_id(text).map(|id| IdKey(u128::from(id))),
    }
}

/// Reads an integer identity: decimal digits without sign or leading zero, `1..=2^53 - 1`.
#[must_use]
pub(crate) fn parse_integer_id(text: &str) -> Option<u64> {
    let plain = !text.starts_with('0')
        && text.len() <= 16
        && text.bytes().all(|byte| byte.is_ascii_digit());
    if !plain {
        return None;
    }
    text.parse()
        .ok()
        .filter(|id| (1..=MAX_RECORD_ID).contains(id))
}

/// Appends an identity as `variant` shows it.
pub(crate) fn write_id(variant: Variant, id: IdKey, out: &mut Vec<u8>) {
    match variant {
        Variant::A => RecordUuid(id.0.to_be_bytes()).write(out),
        Variant::B | Variant::Both => out.extend_from_slice(id.0.to_string().as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_prints_and_parses_to_itself() {
        for (variant, text) in [
            (
                Variant::A,
                "0.734512389|0190a0b2-1c3d-7e4f-8a5b-6c7d8e9f0a1b",
            ),
            (Variant::B, "0.734512389_42"),
            (Variant::B, "1_9007199254740991"),
            (Variant::B, "0_1"),
        ] {
            let position = parse(variant, text).expect(text);
            let mut out = Vec::new();
            write(variant, position, &mut out);
            assert_eq!(String::from_utf8(out).expect("ascii"), text);
        }
    }

    #[test]
    fn malformed_cursors_are_refused() {
        for (variant, text) in [
            (Variant::A, "0.7_42"),
            (Variant::A, "0.7|42"),
            (Variant::B, "0.7|0190a0b2-1c3d-7e4f-8a5b-6c7d8e9f0a1b"),
            (Variant::B, "0.7_"),
            (Variant::B, "1.5_3"),
            (Variant::B, "-0.5_3"),
            (Variant::B, "0.5_0"),
            (Variant::B, "0.5_03"),
            (Variant::B, "0.5_-3"),
            (Variant::B, "0.5_9007199254740992"),
            (Variant::B, "0.5_3_3"),
            (Variant::B, ""),
        ] {
            assert_eq!(parse(variant, text), None, "{text}");
        }
    }
}
