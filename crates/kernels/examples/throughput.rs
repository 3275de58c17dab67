//! Measures pruning pass 1 over a million records for batches of several sizes, and for comparison a plain read of the
//! same bytes.
//!
//! `cargo run --release -p cosift-kernels --example throughput [records]`, with `COSIFT_KERNEL` to
//! select a kernel.

use std::hint::black_box;
use std::time::{Duration, Instant};

use cosift_kernels::{
    BLOCK_RECORDS, Candidate, Codec, FullCodes, Layout, Query, Residence, Scan, Steps, Wanted,
    exact, kernel_name, refine, refine_low, rotate, scan_codes,
};

const DIMS: usize = 384;
const ROUNDS: usize = 5;
const SEED: u64 = 0x9E37_79B9_7F4A_7C15;

fn main() {
    let records = std::env::args().nth(1).map_or(1_000_000, |records| {
        records.parse().expect("a number of records")
    });
    println!(
        "kernel {}, {records} records, {DIMS} dimensions, seed {SEED:#x}",
        kernel_name()
    );
    for (name, layout) in [
        ("banded", Layout::new(DIMS, 64, 128)),
        ("identity", Layout::identity(DIMS)),
    ] {
        let layout = layout.expect("valid bands");
        measure(name, layout, records);
    }
    measure_vectors();
}

fn measure(name: &str, layout: Layout, records: usize) {
    let mut random = Random(SEED);
    let sample: Vec<f32> = (0..512).flat_map(|_| random.falling_unit()).collect();
    let codec = Codec::new(layout, Steps::train(&layout, &sample));
    // A thousand distinct vectors, repeated: the time of a scan does not depend on their values.
    let mut distinct = FullCodes::new(layout, 1000);
    let vectors: Vec<Vec<f32>> = (0..1000).map(|_| random.falling_unit()).collect();
    let encode = best(|| {
        for (slot, vector) in vectors.iter().enumerate() {
            codec.encode(vector, slot, &mut distinct);
        }
    });
    let blocks: Vec<FullCodes> = (0..records)
        .step_by(BLOCK_RECORDS)
        .map(|first| {
            let mut block = FullCodes::new(layout, BLOCK_RECORDS);
            for record in first..records.min(first + BLOCK_RECORDS) {
                block.push((&distinct.codes, &distinct.low), record % 1000);
            }
            block
        })
        .collect();
    let bytes: usize = blocks
        .iter()
        .map(|block| block.codes.head_bytes().len())
        .sum();
    let queries: Vec<Query> = (0..64)
        .map(|_| codec.query(&random.falling_unit()))
        .collect();

    let read = best(|| {
        blocks
            .iter()
            .map(|block| read(block.codes.head_bytes()))
            .fold(0, u64::wrapping_add)
    });
    let per_record = |seconds: f64| seconds * 1e9 / records as f64;
    println!(
        "{name}: {} bytes a record in the head, encode {:.0} ns, plain read {:.2} ns ({:.1} GB/s)",
        bytes / records,
        encode * 1e6,
        per_record(read),
        bytes as f64 / read / 1e9
    );
    let mask = [u64::MAX; 64];
    let residence = Residence::of(bytes);
    for batch in [1, 2, 4, 8, 16, 32, 64] {
        let mut found: Vec<Vec<Candidate>> = vec![Vec::new(); batch];
        let seconds = best(|| {
            found.iter_mut().for_each(Vec::clear);
            for block in &blocks {
                let mut scans: Vec<Scan<'_>> = found
                    .iter_mut()
                    .zip(&queries)
                    .map(|(found, query)| Scan {
                        query,
                        mask: &mask,
                        floor: 0.35,
                        higher: None,
                        ceiling: f32::INFINITY,
                        found,
                    })
                    .collect();
                scan_codes(&block.codes, residence, &mut scans);
            }
        });
        println!(
            "  {batch:2} queries: {:6.2} ns a record, {:.2} a query; {:.2} times the read; {:.2} % found",
            per_record(seconds),
            per_record(seconds) / batch as f64,
            seconds / read,
            found.iter().map(Vec::len).sum::<usize>() as f64 * 100.0 / (records * batch) as f64
        );
    }
    if layout.row_bytes() > 0 {
        for step in [1, 64] {
            measure_refine(&blocks, &queries[0], step);
        }
    }
}

/// Measures pruning passes 2 and 3 for one record in `step`, each time after pass 1 has read the block, as in a search.
fn measure_refine(blocks: &[FullCodes], query: &Query, step: usize) {
    let mask = [u64::MAX; 64];
    let (mut fastest, mut rows) = (Duration::MAX, 0);
    for _ in 0..ROUNDS {
        let mut duration = Duration::ZERO;
        rows = 0;
        for block in blocks {
            scan_codes(
                &block.codes,
                Residence::Memory,
                &mut [Scan {
                    query,
                    mask: &mask,
                    floor: 0.35,
                    higher: None,
                    ceiling: f32::INFINITY,
                    found: &mut Vec::new(),
                }],
            );
            let mut found: Vec<Candidate> = (0..block.codes.records())
                .step_by(step)
                .map(|slot| Candidate {
                    slot: slot as u16,
                    estimate: 0.0,
                    error: 0.0,
                })
                .collect();
            rows += found.len();
            let mut wanted = Wanted {
                floor: 0.9,
                ceiling: f32::INFINITY,
                counted: None,
            };
            let begun = Instant::now();
            refine(&block.codes, query, &mut wanted, &mut found);
            refine_low(&block.codes, &block.low, query, &mut wanted, &mut found);
            duration += begun.elapsed();
            black_box(found);
        }
        fastest = fastest.min(duration);
    }
    println!(
        "  refine after pass 1, one row in {step}: {:.1} ns a row",
        fastest.as_secs_f64() * 1e9 / rows as f64
    );
}

fn measure_vectors() {
    let mut random = Random(SEED);
    let matrix: Vec<f32> = (0..DIMS).flat_map(|_| random.falling_unit()).collect();
    let vector = random.falling_unit();
    for count in [1, 8] {
        let vectors = vector.repeat(count);
        let mut out = vec![0.0; DIMS * count];
        let seconds =
            best(|| (0..100).for_each(|_| rotate(black_box(&matrix), DIMS, &vectors, &mut out)));
        println!(
            "rotate {count}: {:.1} us a vector",
            seconds * 1e4 / count as f64
        );
    }
    let numbers: Vec<i32> = vector
        .iter()
        .map(|value| (value * (1 << 30) as f32) as i32)
        .collect();
    let seconds = best(|| {
        for _ in 0..10_000 {
            black_box(exact(black_box(&numbers), black_box(&numbers)));
        }
    });
    println!("exact, in cache: {:.1} ns", seconds * 1e9 / 10_000.0);
}

/// Seconds of the fastest round.
fn best<T>(mut work: impl FnMut() -> T) -> f64 {
    (0..ROUNDS)
        .map(|_| {
            let started = Instant::now();
            black_box(work());
            started.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min)
}

/// Sums the bytes as numbers in eight running sums, so that memory bandwidth is the limit.
fn read(bytes: &[u8]) -> u64 {
    let mut sums = [0_u64; 8];
    for line in bytes.as_chunks::<64>().0 {
        for (sum, word) in sums.iter_mut().zip(line.as_chunks::<8>().0) {
            *sum = sum.wrapping_add(u64::from_le_bytes(*word));
        }
    }
    sums.into_iter().fold(0, u64::wrapping_add)
}

/// Xorshift64*.
struct Random(u64);

impl Random {
    fn component(&mut self) -> f32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 40) as f32 / (1_u32 << 23) as f32 - 1.0
    }

    /// A unit vector whose variance falls with the dimension, as after a rotation.
    fn falling_unit(&mut self) -> Vec<f32> {
        let vector: Vec<f32> = (0..DIMS)
            .map(|dim| self.component() / (1.0 + dim as f32 / 20.0))
            .collect();
        let norm = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
        vector.iter().map(|value| value / norm).collect()
    }
}
