//! Writes JSON text as JavaScript does.

use std::io::Write;

use crate::record::{Data, Value};

/// The escape of each byte in a string: 0 for none, `u` for `\u00XX`, otherwise the byte after the backslash.
const ESCAPES: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = b'u';
        byte += 1;
    }
    table[0x08] = b'b';
    table[b'\t' as usize] = b't';
    table[b'\n' as usize] = b'n';
    table[0x0c] = b'f';
    table[b'\r' as usize] = b'r';
    table[b'"' as usize] = b'"';
    table[b'\\' as usize] = b'\\';
    table
};

/// Appends a string with its quotes.
pub(crate) fn write_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let bytes = text.as_bytes();
    // Without an early exit the compiler vectorises this loop, and most strings need no escape.
    let special = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    if !bytes.iter().fold(false, |any, &byte| any | special(byte)) {
        out.extend_from_slice(bytes);
    } else {
        write_escaped(bytes, out);
    }
    out.push(b'"');
}

fn write_escaped(bytes: &[u8], out: &mut Vec<u8>) {
    let mut start = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        let escape = ESCAPES[usize::from(byte)];
        if escape == 0 {
            continue;
        }
        out.extend_from_slice(&bytes[start..at]);
        start = at + 1;
        if escape == b'u' {
            write!(out, "\\u{byte:04x}").expect("writing to memory");
        } else {
            out.extend_from_slice(&[b'\\', escape]);
        }
    }
    out.extend_from_slice(&bytes[start..]);
}

/// Appends an integer.
pub(crate) fn write_integer(value: u64, out: &mut Vec<u8>) {
    let digit = |power: u64| b'0' + (value / power % 10) as u8;
    // Most numbers are short. Putting their digits into an array and copying them from there would take longer.
    match value {
        0..10 => out.push(digit(1)),
        10..100 => out.extend_from_slice(&[digit(10), digit(1)]),
        100..1_000 => out.extend_from_slice(&[digit(100), digit(10), digit(1)]),
        1_000..10_000 => {
            out.extend_from_slice(&[digit(1_000), digit(100), digit(10), digit(1)]);
        }
        _ => write_long_integer(value, out),
    }
}

fn write_long_integer(value: u64, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut rest = value;
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// Appends a number as JavaScript prints it: the shortest digits that read back the same.
///
/// `value` is finite; `-0` is written `0`.
pub(crate) fn write_number(value: f64, out: &mut Vec<u8>) {
    // `trunc` would be a function call on CPUs without SSE 4.1.
    let integer = value as i64;
    if integer as f64 == value && value.abs() < 9_007_199_254_740_992.0 {
        if integer < 0 {
            out.push(b'-');
        }
        write_integer(integer.unsigned_abs(), out);
    } else {
        out.extend_from_slice(ryu_js::Buffer::new().format_finite(value).as_bytes());
    }
}

/// Appends a value.
pub(crate) fn write_value(value: Value<'_>, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Boolean(true) => out.extend_from_slice(b"true"),
        Value::Boolean(false) => out.extend_from_slice(b"false"),
        Value::Number(number) => write_number(number, out),
        Value::Text(text) => write_string(text, out),
        Value::List(list) => {
            out.push(b'[');
            for (at, element) in list.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                write_value(element, out);
            }
            out.push(b']');
        }
    }
}

/// Appends the text that a value has where it is embedded: of a list, the texts of its elements, joined by `, `.
pub(crate) fn write_text(value: Value<'_>, out: &mut Vec<u8>) {
    match value {
        Value::Null => {}
        Value::Text(text) => out.extend_from_slice(text.as_bytes()),
        Value::Boolean(_) | Value::Number(_) => write_value(value, out),
        Value::List(list) => {
            for (at, element) in list.iter().enumerate() {
                if at > 0 {
                    out.extend_from_slice(b", ");
                }
                write_text(element, out);
            }
        }
    }
}

/// Appends parsed data of a record: the same bytes as [`crate::columns::write_data`] writes for the record.
pub(crate) fn write_cells(data: &Data, out: &mut Vec<u8>) {
    out.push(b'{');
    for (at, (name, value)) in data.cells().iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write_string(name, out);
        out.push(b':');
        write_value(value.borrow(), out);
    }
    out.push(b'}');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(value: f64) -> String {
        let mut out = Vec::new();
        write_number(value, &mut out);
        String::from_utf8(out).expect("ASCII")
    }

    #[test]
    fn numbers_are_written_as_javascript_does() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (-7.0, "-7"),
            (0.1, "0.1"),
            (1e21, "1e+21"),
            (123_456_789_012_345_680_000.0, "123456789012345680000"),
            (9_007_199_254_740_991.0, "9007199254740991"),
            (-9_007_199_254_740_991.0, "-9007199254740991"),
            (9_007_199_254_740_992.0, "9007199254740992"),
            (-9_223_372_036_854_775_808.0, "-9223372036854776000"),
            (1e-7, "1e-7"),
            (0.000_001, "0.000001"),
            (5e-324, "5e-324"),
            (f64::MAX, "1.7976931348623157e+308"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn integers_of_every_length_have_all_their_digits() {
        let mut out = Vec::new();
        for digits in 1..=20 {
            let highest = 10_u64.pow(digits - 1);
            let longer = highest.saturating_mul(10);
            for value in [highest - 1, highest, highest + 1, longer - 1] {
                out.clear();
                write_integer(value, &mut out);
                assert_eq!(str::from_utf8(&out), Ok(&*value.to_string()));
            }
        }
    }

    #[test]
    fn strings_are_escaped_as_javascript_does() {
        let mut out = Vec::new();
        write_string(
            "a\"b\\c\u{8}\t\n\u{c}\r\u{0}\u{1f}\u{7f}é\u{2028}𝄞",
            &mut out,
        );
        let expected = "\"a\\\"b\\\\c\\b\\t\\n\\f\\r\\u0000\\u001f\u{7f}é\u{2028}𝄞\"";
        assert_eq!(String::from_utf8(out).expect("UTF-8"), expected);
    }
}
