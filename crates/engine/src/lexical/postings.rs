//! The records of a block that have a word, as bytes.

use crate::columns::{BLOCK_RECORDS, Mask};

/// Bytes of a bitmap of a block. A list of slots is shorter, so the length tells the two apart.
const BITMAP_BYTES: usize = BLOCK_RECORDS / 8;

/// Appends ascending slots: the differences as LEB128, or a bitmap if that is not longer.
pub(super) fn write_slots(slots: &[u16], out: &mut Vec<u8>) {
    let start = out.len();
    let mut next = 0;
    for &slot in slots {
        put_number(usize::from(slot) - next, out);
        next = usize::from(slot) + 1;
    }
    if out.len() - start >= BITMAP_BYTES {
        out.truncate(start);
        let mask: Mask = slots.iter().map(|&slot| usize::from(slot)).collect();
        out.extend_from_slice(&mask.to_bytes());
    }
}

/// Calls `visit` with each slot of what [`write_slots`] wrote.
pub(super) fn each_slot(bytes: &[u8], mut visit: impl FnMut(usize)) {
    if bytes.len() == BITMAP_BYTES {
        if let Some(mask) = Mask::from_bytes(bytes) {
            mask.each_slot(visit);
        }
        return;
    }
    let (mut bytes, mut next) = (bytes.iter(), 0);
    while let Some(&byte) = bytes.next() {
        let mut number = usize::from(byte & 0x7f);
        // Slots are below 2^14, so a number has at most two bytes.
        if byte >= 0x80
            && let Some(&byte) = bytes.next()
        {
            number |= usize::from(byte) << 7;
        }
        visit(next + number);
        next += number + 1;
    }
}

/// Appends a number as LEB128.
fn put_number(mut number: usize, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_read_as_they_were_written() {
        let lists: [Vec<u16>; 6] = [
            vec![],
            vec![0],
            vec![4095],
            vec![0, 1, 127, 128, 129, 300, 4095],
            (0..4096).collect(),
            (0..4096).step_by(7).collect(),
        ];
        for slots in lists {
            let mut bytes = Vec::new();
            write_slots(&slots, &mut bytes);
            assert!(bytes.len() <= BITMAP_BYTES);
            let mut read = Vec::new();
            each_slot(&bytes, |slot| read.push(slot as u16));
            assert_eq!(read, slots);
        }
    }
}
