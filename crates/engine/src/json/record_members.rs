//! The members of a record in a response, other than its data.

use crate::json::{write_integer, write_string, write_time};
use crate::record::{Passage, RecordId, RecordUuid, Variant};

/// Appends the value of the member `id` that `variant` shows, the UUID as a string, or the integer; the integer is followed
/// by the member `uuid` if it shows both.
pub(crate) fn write_id(variant: Variant, id: RecordId, uuid: RecordUuid, out: &mut Vec<u8>) {
    if variant != Variant::A {
        write_integer(id.0, out);
    }
    if variant == Variant::Both {
        out.extend_from_slice(b",\"uuid\":");
    }
    if variant != Variant::B {
        out.push(b'"');
        uuid.write(out);
        out.push(b'"');
    }
}

/// Appends the member `key`, after another member, if the record has a key.
pub(crate) fn write_key(key: Option<&str>, out: &mut Vec<u8>) {
    if let Some(key) = key {
        out.extend_from_slice(b",\"key\":");
        write_string(key, out);
    }
}

/// Appends the object of a passage without its last brace, so that members can follow.
pub(crate) fn write_passage(passage: &Passage, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"column\":");
    write_string(&passage.column, out);
    out.extend_from_slice(b",\"start\":");
    write_integer(passage.start.into(), out);
    out.extend_from_slice(b",\"end\":");
    write_integer(passage.end.into(), out);
}

/// Appends the object with the three times under the names of `variant`. `times` are *created*, *changed* and
/// *synced*, in milliseconds since 1970.
pub(crate) fn write_times(variant: Variant, times: [i64; 3], out: &mut Vec<u8>) {
    let mut last = None;
    for (at, (name, time)) in variant.time_names().into_iter().zip(times).enumerate() {
        out.extend_from_slice(if at == 0 { b"{\"" } else { b",\"" });
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b"\":\"");
        let start = out.len();
        match last {
            // The times of most records are the same.
            Some((same, text)) if same == time => out.extend_from_within(text),
            _ => write_time(time, out),
        }
        last = Some((time, start..out.len()));
        out.push(b'"');
    }
    out.push(b'}');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_time_is_written_whether_or_not_it_is_that_before() {
        let texts = ["1970-01-01T00:00:00.000Z", "1970-01-01T00:00:00.001Z"];
        for times in [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1]] {
            let names = Variant::A.time_names();
            let members: Vec<String> = (names.iter().zip(times))
                .map(|(name, time)| format!("\"{name}\":\"{}\"", texts[time as usize]))
                .collect();
            let mut out = Vec::new();
            write_times(Variant::A, times, &mut out);
            let expected = format!("{{{}}}", members.join(","));
            assert_eq!(String::from_utf8_lossy(&out), expected);
        }
    }
}
