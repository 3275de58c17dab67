//! The records that have a word, as bytes: for each block of a group, a list of slots.

use std::ops::Range;

use crate::columns::{BLOCK_RECORDS, Mask};

/// Blocks of a group at most, so that a number of a group's record has 16 bits: the block times [`BLOCK_RECORDS`] plus the
/// slot.
pub(crate) const GROUP_BLOCKS: usize = 65_536 / BLOCK_RECORDS;

/// Bytes of a bitmap of a block. A list of slots is shorter, so the length tells the two apart.
const BITMAP_BYTES: usize = BLOCK_RECORDS / 8;

/// Appends the lists of slots of ascending numbers of a group's records. Returns the blocks with a list, a bit each.
pub(super) fn write_lists(numbers: &[u16], out: &mut Vec<u8>) -> u16 {
    let block_of = |number: u16| usize::from(number) / BLOCK_RECORDS;
    let (mut blocks, mut bytes) = (0, Vec::new());
    let mut lists = numbers
        .chunk_by(|&a, &b| block_of(a) == block_of(b))
        .peekable();
    while let Some(list) = lists.next() {
        let block = block_of(list[0]);
        blocks |= 1 << block;
        let first = (block * BLOCK_RECORDS) as u16;
        let slots: Vec<u16> = list.iter().map(|number| number - first).collect();
        bytes.clear();
        write_slots(&slots, &mut bytes);
        // The last list needs no length: it ends with the bytes.
        if lists.peek().is_some() {
            put_number(bytes.len(), out);
        }
        out.extend_from_slice(&bytes);
    }
    blocks
}

/// Calls `visit` with each block of `blocks`, and where in `bytes` its slots are, as [`write_lists`] wrote them.
pub(super) fn each_list(blocks: u16, bytes: &[u8], mut visit: impl FnMut(usize, Range<usize>)) {
    let (mut left, mut at) = (blocks, 0);
    while left != 0 {
        let block = left.trailing_zeros() as usize;
        left &= left - 1;
        let end = if left == 0 {
            bytes.len()
        } else {
            let mut rest = bytes[at..].iter();
            let length = take_number(&mut rest).unwrap_or(0);
            at = bytes.len() - rest.len();
            at + length
        };
        visit(block, at..end);
        at = end;
    }
}

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
    while let Some(number) = take_number(&mut bytes) {
        visit(next + number);
        next += number + 1;
    }
}

/// Reads a number of [`put_number`].
fn take_number(bytes: &mut std::slice::Iter<'_, u8>) -> Option<usize> {
    let &byte = bytes.next()?;
    let mut number = usize::from(byte & 0x7f);
    // Slots and lengths of lists are below 2^14, so a number has at most two bytes.
    if byte >= 0x80
        && let Some(&byte) = bytes.next()
    {
        number |= usize::from(byte) << 7;
    }
    Some(number)
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
    #[test]
    fn each_block_has_the_list_that_was_written() {
        let groups: [Vec<u16>; 5] = [
            vec![7],
            vec![0, 4095, 4096, 8191, 65_535],
            (0..=u16::MAX).collect(),
            (0..20_000).step_by(9).collect(),
            (4_096..8_192).chain([60_000, 60_001]).collect(),
        ];
        for numbers in groups {
            let mut bytes = Vec::new();
            let blocks = write_lists(&numbers, &mut bytes);
            let mut read = Vec::new();
            each_list(blocks, &bytes, |block, range| {
                each_slot(&bytes[range], |slot| {
                    read.push((block * BLOCK_RECORDS + slot) as u16);
                });
            });
            assert_eq!(read, numbers);
        }
    }
}
