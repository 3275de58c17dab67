//! UUIDs as text.

/// Parses a hyphenated UUID, in either case; `None` for anything else.
pub(crate) fn parse_uuid(text: &str) -> Option<[u8; 16]> {
    let bytes: &[u8; 36] = text.as_bytes().try_into().ok()?;
    let mut uuid = [0; 16];
    let mut at = 0;
    for byte in &mut uuid {
        if matches!(at, 8 | 13 | 18 | 23) {
            if bytes[at] != b'-' {
                return None;
            }
            at += 1;
        }
        *byte = digit(bytes[at])? << 4 | digit(bytes[at + 1])?;
        at += 2;
    }
    Some(uuid)
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|digit| digit as u8)
}

/// Appends a UUID, hyphenated and in lower case.
pub(crate) fn write_uuid(uuid: &[u8; 16], out: &mut Vec<u8>) {
    for (at, byte) in uuid.iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            out.push(b'-');
        }
        for half in [byte >> 4, byte & 15] {
            out.push(b"0123456789abcdef"[usize::from(half)]);
        }
    }
}

/// A UUID, hyphenated and in lower case.
pub(crate) fn format_uuid(uuid: &[u8; 16]) -> String {
    let mut out = Vec::with_capacity(36);
    write_uuid(uuid, &mut out);
    String::from_utf8(out).expect("hexadecimal digits and hyphens")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_case_reads_and_lower_case_is_written() {
        let text = "0190a0b2-7C3d-7abc-8def-0123456789AB";
        let uuid = parse_uuid(text).expect("a uuid");
        assert_eq!(format_uuid(&uuid), text.to_lowercase());
        for bad in [
            "",
            &text[1..],
            &text.replace('-', "0"),
            &text.replace('7', "g"),
            "{0190a0b2}",
        ] {
            assert_eq!(parse_uuid(bad), None, "{bad}");
        }
    }
}
