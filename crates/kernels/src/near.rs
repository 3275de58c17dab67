//! Numbers that differ from another in few bits.

/// Numbers that are compared at once.
const CHUNK: usize = 64;

/// Appends the places of the numbers that differ from `wanted` in at most `max` bits, ascending.
#[inline(always)]
pub(crate) fn find_near(numbers: &[u32], wanted: u32, max: u32, places: &mut Vec<u32>) {
    // The number of steps is a constant, so that the compiler vectorises them.
    match max {
        1 => find::<1>(numbers, wanted, places),
        2 => find::<2>(numbers, wanted, places),
        3 => find::<3>(numbers, wanted, places),
        4 => find::<4>(numbers, wanted, places),
        _ => places.extend(
            (0_u32..)
                .zip(numbers)
                .filter(|(_, number)| (*number ^ wanted).count_ones() <= max)
                .map(|(place, _)| place),
        ),
    }
}

#[inline(always)]
fn find<const MAX: u32>(numbers: &[u32], wanted: u32, places: &mut Vec<u32>) {
    let (chunks, rest) = numbers.as_chunks::<CHUNK>();
    let mut first = 0;
    for chunk in chunks {
        let mut near = [0; CHUNK];
        for (near, &number) in near.iter_mut().zip(chunk) {
            *near = u8::from(is_near::<MAX>(number, wanted));
        }
        for (at, bytes) in near.as_chunks::<8>().0.iter().enumerate() {
            let mut bytes = u64::from_le_bytes(*bytes);
            while bytes != 0 {
                places.push((first + at * 8) as u32 + bytes.trailing_zeros() / 8);
                bytes &= bytes - 1;
            }
        }
        first += CHUNK;
    }
    for (at, &number) in rest.iter().enumerate() {
        if is_near::<MAX>(number, wanted) {
            places.push((first + at) as u32);
        }
    }
}

/// Whether two numbers differ in at most `MAX` bits. Each step removes the lowest bit.
#[inline(always)]
fn is_near<const MAX: u32>(a: u32, b: u32) -> bool {
    let mut differing = a ^ b;
    for _ in 0..MAX {
        differing &= differing.wrapping_sub(1);
    }
    differing == 0
}
