//! Compares a kernel with the reference on random blocks.

use crate::codec::Codec;
use crate::codes::Codes;
use crate::full_codes::FullCodes;
use crate::kernel::Kernel;
use crate::layout::{BLOCK_RECORDS, Layout};
use crate::nearness::Nearness;
use crate::query::Query;
use crate::reference;
use crate::residence::Residence;
use crate::scalar::SCALAR;
use crate::scan::{Candidate, Counted, HigherFloor, Mask, Scan, Wanted};
use crate::steps::Steps;

/// Whether an available kernel returns the same bits as the reference.
///
/// This check runs before a kernel is selected, so that a fault of a CPU or an operating system cannot give wrong results.
/// Its few records cover every band, rows of one load and of more, every group size of queries, and scans that skip tiles.
pub(crate) fn agrees_with_reference(kernel: &Kernel) -> bool {
    const SEED: u64 = 0x9E37_79B9_7F4A_7C15;
    let banded = Layout::new(320, 64, 64).expect("valid bands");
    agrees_on(kernel, banded, 113, 15, SEED)
}

/// The records that random queries search.
#[derive(Clone, Copy)]
enum Masks {
    /// Three of four records.
    Dense,
    /// Half of the records of each seventh tile, so that the others are skipped. Eight queries need the same tiles, the next
    /// eight need others, so that a group of queries also skips tiles that another group needs.
    Sparse,
}

impl Masks {
    fn draw(self, query: usize, random: &mut Random) -> Mask {
        std::array::from_fn(|word| match self {
            Self::Dense => random.next() | random.next(),
            Self::Sparse => {
                let tiles = (0..4).filter(|tile| (4 * word + tile) % 7 == query / 8 % 2 * 3);
                tiles.fold(0, |mask, tile| mask | 0xFFFF << (16 * tile)) & random.next()
            }
        })
    }
}

/// Whether a kernel agrees with the reference on a random block and random queries.
pub(crate) fn agrees_on(
    kernel: &Kernel,
    layout: Layout,
    records: usize,
    queries: usize,
    seed: u64,
) -> bool {
    let mut random = Random::new(seed);
    let dims = layout.dims();
    let sample: Vec<f32> = (0..4).flat_map(|_| random.unit(dims)).collect();
    let codec = Codec::new(layout, Steps::train(&layout, &sample));
    let mut full = FullCodes::new(layout, records);
    for slot in 0..records {
        codec.encode(&random.unit(dims), slot, &mut full);
    }
    let matrix: Vec<f32> = (0..dims).flat_map(|_| random.unit(dims)).collect();
    let vectors: Vec<f32> = (0..5).flat_map(|_| random.unit(dims)).collect();
    let [left, right]: [Vec<i32>; 2] = std::array::from_fn(|_| {
        (1..dims)
            .map(|_| (random.next() >> 33) as i32 - (1 << 30))
            .collect()
    });

    let [mut rotated, mut expected_rotated] = [(); 2].map(|()| vec![0.0; vectors.len()]);
    for (vector, out) in vectors
        .chunks_exact(dims)
        .zip(expected_rotated.chunks_exact_mut(dims))
    {
        // SAFETY: every CPU has the scalar kernel.
        unsafe { (SCALAR.rotate)(&matrix, dims, vector, out) };
    }
    // SAFETY: the kernel is available.
    let exact = unsafe {
        (kernel.rotate)(&matrix, dims, &vectors, &mut rotated);
        (kernel.exact)(&left, &right)
    };
    [Masks::Dense, Masks::Sparse]
        .into_iter()
        .all(|masks| searches_agree(kernel, &codec, &full, masks, queries, &mut random))
        && exact == crate::exact::exact(&left, &right)
        && ranges_agree(kernel, records, &mut random)
        && places_agree(kernel, &mut random)
        && nearness_agrees(kernel, &mut random)
        && rotated
            .iter()
            .map(|value| value.to_bits())
            .eq(expected_rotated.iter().map(|value| value.to_bits()))
}

/// Whether the passes of a kernel agree with the reference for random queries.
fn searches_agree(
    kernel: &Kernel,
    codec: &Codec,
    FullCodes { codes, low }: &FullCodes,
    masks: Masks,
    queries: usize,
    random: &mut Random,
) -> bool {
    let dims = codes.layout().dims();
    let requests: Vec<Request> = (0..queries)
        .map(|query| Request {
            query: codec.query(&random.unit(dims)),
            mask: masks.draw(query, random),
            floor: random.component() * 0.2,
            higher: (random.next() >> 63 == 1)
                .then(|| (random.component() * 0.2, [(); 64].map(|()| random.next()))),
            ceiling: random.component().abs(),
        })
        .collect();
    let expected = scan_codes(codes, &requests, reference::scan_codes);
    // SAFETY: the kernel is available, and the queries have the codes' layout.
    let scanned = scan_codes(codes, &requests, |codes, scans| unsafe {
        (kernel.scan_codes)(codes, Residence::Memory, scans)
    });
    let refined = requests.iter().zip(&expected).all(|(request, found)| {
        let (mut expected, mut found) = (found.clone(), found.clone());
        let (query, floor, ceiling) = (&request.query, request.floor, request.ceiling);
        let mut slots = [[0; 64]; 2];
        let mut wanted = slots.each_mut().map(|slots| Wanted {
            floor,
            ceiling,
            counted: (request.higher.as_ref()).map(|(lowest, _)| Counted {
                lowest: *lowest,
                below: ceiling,
                slots,
            }),
        });
        let [one, other] = &mut wanted;
        reference::refine(codes, query, one, &mut expected);
        // SAFETY: as above; the candidates are records.
        unsafe { (kernel.refine)(codes, query, other, &mut found) };
        let refined = same(&found, &expected);
        reference::refine_low(codes, low, query, one, &mut expected);
        // SAFETY: as above; the low nibbles are those of the records.
        unsafe { (kernel.refine_low)(codes, low, query, other, &mut found) };
        refined && same(&found, &expected) && slots[0] == slots[1]
    });
    refined
        && scanned
            .iter()
            .zip(&expected)
            .all(|(found, expected)| same(found, expected))
}

/// Whether the range tests of a kernel agree with a comparison of each number.
fn ranges_agree(kernel: &Kernel, records: usize, random: &mut Random) -> bool {
    if records == 0 {
        return true;
    }
    let integers: Vec<u64> = (0..records).map(|_| random.next()).collect();
    let floats: Vec<f64> = (0..records)
        .map(|_| f64::from(random.component()))
        .collect();
    // Few upper parts, so that many numbers have those of the ends, and their lowest bytes decide.
    let split: Vec<u64> = (0..records)
        .map(|_| random.next() & 0xFF_0000_00FF)
        .collect();
    let upper: Vec<u32> = split.iter().map(|integer| (integer >> 8) as u32).collect();
    let lowest: Vec<u8> = split.iter().map(|&integer| integer as u8).collect();
    let within: Mask = std::array::from_fn(|_| random.next());
    let end = |at: usize| at * (records - 1) / 2;
    let agrees = |found: &Mask, holds: &dyn Fn(usize) -> bool| {
        (0..BLOCK_RECORDS).all(|slot| {
            let bit = |mask: &Mask| mask[slot / 64] >> (slot % 64) & 1 == 1;
            bit(found) == (slot < records && bit(&within) && holds(slot))
        })
    };
    let split_agrees = |low: u64, high: u64| {
        // SAFETY: the kernel is available, and there are no more values than a mask has bits.
        let found = unsafe { (kernel.split_integers_between)(&upper, &lowest, low, high, &within) };
        agrees(&found, &|slot| (low..=high).contains(&split[slot]))
    };
    // Both ends are numbers of the block. In the last case they are equal.
    let ends_agree = [(0, 1), (1, 2), (2, 2)].into_iter().all(|(one, other)| {
        let (one, other) = (end(one), end(other));
        let range = |of: &[u64]| (of[one].min(of[other]), of[one].max(of[other]));
        let (low, high) = range(&integers);
        let (split_low, split_high) = range(&split);
        let (min, max) = (
            floats[one].min(floats[other]),
            floats[one].max(floats[other]),
        );
        // SAFETY: the kernel is available, and there are no more values than a mask has bits.
        let (found, found_floats) = unsafe {
            (
                (kernel.integers_between)(&integers, low, high, &within),
                (kernel.floats_between)(&floats, min, max, &within),
            )
        };
        agrees(&found, &|slot| (low..=high).contains(&integers[slot]))
            && split_agrees(split_low, split_high)
            && agrees(&found_floats, &|slot| (min..=max).contains(&floats[slot]))
    });
    // No number has the upper part of one of these ends, so that the upper parts alone decide.
    ends_agree && split_agrees(0x40_0000_0100, 0xC0_0000_0100)
}

/// Whether the search for near numbers of a kernel agrees with a comparison of each number.
fn places_agree(kernel: &Kernel, random: &mut Random) -> bool {
    let wanted = random.next() as u32;
    let numbers: Vec<u32> = (0..150)
        .map(|_| {
            (0..random.next() % 7).fold(wanted, |number, _| number ^ 1 << (random.next() % 32))
        })
        .collect();
    (0..6).all(|max| {
        let near = |&place: &u32| (numbers[place as usize] ^ wanted).count_ones() <= max;
        let mut found = Vec::new();
        // SAFETY: the kernel is available.
        unsafe { (kernel.find_near)(&numbers, wanted, max, &mut found) };
        found.into_iter().eq((0..numbers.len() as u32).filter(near))
    })
}

/// Whether sums of nearness of a kernel are those of each number.
fn nearness_agrees(kernel: &Kernel, random: &mut Random) -> bool {
    let number = |random: &mut Random| (random.next() >> 40) as f64 / 256.0 - 9_999.5;
    let nearness = Nearness::new(number(random), number(random).abs() + 0.1);
    let numbers: [f64; 64] = std::array::from_fn(|_| number(random));
    let (within, weight) = (random.next(), random.next() as u32 >> 3);
    let before: [u64; 64] = std::array::from_fn(|_| random.next() >> 8);
    let mut sums = before;
    // SAFETY: the kernel is available.
    unsafe { (kernel.add_nearness)(&numbers, within, nearness, weight, &mut sums) };
    (0..64).all(|at| {
        let part = u64::from(weight) * u64::from(nearness.of(numbers[at]));
        sums[at] == before[at] + part * (within >> at & 1)
    })
}

struct Request {
    query: Query,
    mask: Mask,
    floor: f32,
    higher: Option<(f32, Mask)>,
    ceiling: f32,
}

fn scan_codes(
    codes: &Codes,
    requests: &[Request],
    with: impl FnOnce(&Codes, &mut [Scan<'_>]),
) -> Vec<Vec<Candidate>> {
    let mut found = vec![Vec::new(); requests.len()];
    let mut scans: Vec<Scan<'_>> = requests
        .iter()
        .zip(&mut found)
        .map(|(request, found)| Scan {
            query: &request.query,
            mask: &request.mask,
            floor: request.floor,
            higher: (request.higher.as_ref()).map(|(floor, except)| HigherFloor {
                floor: *floor,
                except,
            }),
            ceiling: request.ceiling,
            found,
        })
        .collect();
    with(codes, &mut scans);
    found
}

pub(crate) fn same(found: &[Candidate], expected: &[Candidate]) -> bool {
    let bits = |candidate: &Candidate| {
        (
            candidate.slot,
            candidate.estimate.to_bits(),
            candidate.error.to_bits(),
        )
    };
    found.iter().map(bits).eq(expected.iter().map(bits))
}

/// Xorshift64*: <https://doi.org/10.1145/2845077>.
pub(crate) struct Random(u64);

impl Random {
    /// `seed` is not zero.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// In -1..1, most often near 0.
    pub(crate) fn component(&mut self) -> f32 {
        let uniform = |bits: u64| (bits >> 40) as f32 / (1_u32 << 23) as f32 - 1.0;
        uniform(self.next()) * uniform(self.next())
    }

    /// A unit vector.
    pub(crate) fn unit(&mut self, dims: usize) -> Vec<f32> {
        let vector: Vec<f32> = (0..dims).map(|_| self.component()).collect();
        let norm = vector
            .iter()
            .map(|&value| f64::from(value).powi(2))
            .sum::<f64>()
            .sqrt();
        vector
            .iter()
            .map(|&value| (f64::from(value) / norm) as f32)
            .collect()
    }
}

/// Reports that the current test could not test something on this machine. It writes to stderr directly, because the test
/// harness hides the output of tests that pass; `scripts/test.mjs` counts these lines.
#[cfg(test)]
pub(crate) fn skipped(reason: &str) {
    use std::io::Write;

    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    // The line is one write, because other tests print at the same time.
    let line = format!("\nskipped: {test}: {reason}\n");
    std::io::stderr()
        .write_all(line.as_bytes())
        .expect("stderr is writable");
}

#[cfg(test)]
mod tests {
    use super::{Random, agrees_on, skipped};
    use crate::detect::KERNELS;
    use crate::layout::Layout;

    /// Loads of 64 bytes read these rows of the tail and of the coarse band.
    #[test]
    fn every_kernel_agrees_on_rows_of_any_number_of_loads() {
        for row_bytes in [4, 32, 60, 64, 68, 96, 124, 128, 132, 192] {
            let tail = Layout::new(8 + 2 * row_bytes, 8, 0);
            let both = Layout::new(4 * row_bytes, 0, 2 * row_bytes);
            for layout in [tail, both] {
                let layout = layout.expect("valid bands");
                for kernel in KERNELS.iter().filter(|kernel| (kernel.available)()) {
                    assert!(
                        agrees_on(kernel, layout, 50, 9, row_bytes as u64),
                        "{} differs: {layout:?}",
                        kernel.name
                    );
                }
            }
        }
    }

    #[test]
    fn every_kernel_agrees_with_the_reference_bit_for_bit() {
        for kernel in KERNELS.iter().filter(|kernel| !(kernel.available)()) {
            skipped(&format!("this CPU lacks the kernel {}", kernel.name));
        }
        const SEED: u64 = 20_251_121;
        println!("seed {SEED}");
        let mut random = Random::new(SEED);
        let mut below = |end: u64| (random.next() >> 11) as usize % end as usize;
        for round in 0..200 {
            let dims = 8 * (1 + below(50));
            let (fine, coarse) = match round % 5 {
                0 => (dims, 0),
                1 => (
                    64.min(dims / 16 * 8),
                    64 * below(3).min((dims - 64.min(dims)) / 64),
                ),
                _ => (
                    8 * below(dims as u64 / 16 + 1),
                    8 * (below(dims as u64 / 16 + 1)),
                ),
            };
            let layout = if round % 5 == 4 {
                Layout::along_axis(dims)
            } else {
                Layout::new(dims, fine.max(if coarse == 0 { 8 } else { 0 }), coarse)
            };
            let layout = layout.expect("valid bands");
            let (records, queries) = (below(200), below(36));
            for kernel in KERNELS.iter().filter(|kernel| (kernel.available)()) {
                assert!(
                    agrees_on(kernel, layout, records, queries, 1 + round),
                    "{} differs in round {round}: {layout:?}, {records} records, {queries} queries",
                    kernel.name
                );
            }
        }
    }
}
