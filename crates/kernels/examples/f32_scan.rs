//! An optimised brute-force scan of f32 vectors, which is the baseline of the benchmark.
//!
//! `cargo run --release -p cosift-kernels --example f32_scan FILE RECORDS DIMENSIONS` reads
//! `RECORDS x DIMENSIONS` little-endian f32 values, and the rest of the file as queries. Each line
//! `scan QUERY LIMIT THRESHOLD MASK` on standard input (MASK a file of one bit a record, or `-`) is
//! answered by one line: microseconds, then `id:score` of the best, best first.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap};
use std::fs::{File, read};
use std::io::{BufRead, Read, Write, stdin, stdout};
use std::time::Instant;

const LANES: usize = 16;
/// Independent sums, enough to hide the latency of a fused multiply-add.
const SUMS: usize = 4;
const STEP: usize = LANES * SUMS;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, records, dimensions] = arguments.as_slice() else {
        eprintln!("usage: f32_scan FILE RECORDS DIMENSIONS");
        std::process::exit(2);
    };
    let records: usize = records.parse().expect("RECORDS is a number");
    let dimensions: usize = dimensions.parse().expect("DIMENSIONS is a number");
    assert!(
        dimensions.is_multiple_of(STEP),
        "DIMENSIONS is a multiple of {STEP}"
    );
    let values = floats(path);
    let (vectors, queries) = values.split_at(records * dimensions);
    let scan = best_scan();
    let mut masks: HashMap<String, Vec<u64>> = HashMap::new();
    println!("ready");
    for line in stdin().lock().lines() {
        let line = line.expect("standard input is text");
        let mut words = line.split(' ').skip(1);
        let mut word = || words.next().expect("scan QUERY LIMIT THRESHOLD MASK");
        let query: usize = word().parse().expect("QUERY is a number");
        let limit: usize = word().parse().expect("LIMIT is a number");
        let threshold: f32 = word().parse().expect("THRESHOLD is a number");
        let mask = word();
        let mask = masks
            .entry(mask.to_owned())
            .or_insert_with(|| mask_of(mask, records));
        let query = &queries[query * dimensions..(query + 1) * dimensions];
        let started = Instant::now();
        let mut best = Best::new(limit, threshold);
        scan(query, vectors, mask, &mut best);
        let hits = best.sorted();
        let micros = started.elapsed().as_secs_f64() * 1e6;
        let mut out = stdout().lock();
        write!(out, "{micros:.1}").expect("the reader is there");
        for hit in hits {
            write!(out, " {}:{}", hit.id, hit.score).expect("the reader is there");
        }
        writeln!(out).expect("the reader is there");
        out.flush().expect("the reader is there");
    }
}

fn floats(path: &str) -> Vec<f32> {
    let mut file = File::open(path).expect("FILE can be opened");
    let length = file.metadata().expect("FILE has a length").len();
    let mut values = Vec::with_capacity(usize::try_from(length / 4).expect("FILE fits in memory"));
    let mut bytes = vec![0; 1 << 20];
    loop {
        let mut filled = 0;
        while filled < bytes.len() {
            match file.read(&mut bytes[filled..]).expect("FILE can be read") {
                0 => break,
                read => filled += read,
            }
        }
        let (quads, _) = bytes[..filled].as_chunks::<4>();
        values.extend(quads.iter().map(|quad| f32::from_le_bytes(*quad)));
        if filled < bytes.len() {
            return values;
        }
    }
}

fn mask_of(path: &str, records: usize) -> Vec<u64> {
    if path == "-" {
        return vec![u64::MAX; records.div_ceil(64)];
    }
    let bytes = read(path).expect("MASK can be read");
    let (words, _) = bytes.as_chunks::<8>();
    words.iter().map(|word| u64::from_le_bytes(*word)).collect()
}

type ScanFn = fn(&[f32], &[f32], &[u64], &mut Best);

fn best_scan() -> ScanFn {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the processor has AVX-512 F.
            return |query, vectors, mask, best| unsafe { scan_avx512(query, vectors, mask, best) };
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: the processor has AVX2 and FMA.
            return |query, vectors, mask, best| unsafe { scan_avx2(query, vectors, mask, best) };
        }
    }
    scan
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,fma")]
fn scan_avx512(query: &[f32], vectors: &[f32], mask: &[u64], best: &mut Best) {
    scan(query, vectors, mask, best);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn scan_avx2(query: &[f32], vectors: &[f32], mask: &[u64], best: &mut Best) {
    scan(query, vectors, mask, best);
}

#[inline(always)]
fn scan(query: &[f32], vectors: &[f32], mask: &[u64], best: &mut Best) {
    let records = vectors.len() / query.len();
    for (word_index, &word) in mask.iter().enumerate() {
        let mut word = word;
        while word != 0 {
            let record = word_index * 64 + word.trailing_zeros() as usize;
            word &= word - 1;
            if record >= records {
                return;
            }
            let score = dot(
                query,
                &vectors[record * query.len()..(record + 1) * query.len()],
            );
            if score >= best.floor {
                best.offer(record + 1, score);
            }
        }
    }
}

#[inline(always)]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [[0.0_f32; LANES]; SUMS];
    let (a, _) = a.as_chunks::<STEP>();
    let (b, _) = b.as_chunks::<STEP>();
    for (a, b) in a.iter().zip(b) {
        for (at, sum) in sums.iter_mut().enumerate() {
            for lane in 0..LANES {
                sum[lane] = a[at * LANES + lane].mul_add(b[at * LANES + lane], sum[lane]);
            }
        }
    }
    let mut total = [0.0_f32; LANES];
    for lane in 0..LANES {
        total[lane] = (sums[0][lane] + sums[1][lane]) + (sums[2][lane] + sums[3][lane]);
    }
    total.iter().sum()
}

#[derive(PartialEq)]
struct Hit {
    score: f32,
    id: usize,
}

impl Eq for Hit {}

impl Ord for Hit {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score
            .total_cmp(&other.score)
            .then(other.id.cmp(&self.id))
    }
}

impl PartialOrd for Hit {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The best hits so far; `floor` is the lowest score of a new hit.
struct Best {
    limit: usize,
    floor: f32,
    heap: BinaryHeap<Reverse<Hit>>,
}

impl Best {
    fn new(limit: usize, threshold: f32) -> Self {
        Self {
            limit,
            floor: threshold,
            heap: BinaryHeap::with_capacity(limit + 1),
        }
    }

    #[cold]
    fn offer(&mut self, id: usize, score: f32) {
        self.heap.push(Reverse(Hit { score, id }));
        if self.heap.len() > self.limit {
            self.heap.pop();
        }
        if self.heap.len() == self.limit
            && let Some(Reverse(worst)) = self.heap.peek()
        {
            self.floor = self.floor.max(worst.score);
        }
    }

    fn sorted(self) -> Vec<Hit> {
        let mut hits: Vec<Hit> = self.heap.into_iter().map(|Reverse(hit)| hit).collect();
        hits.sort_unstable_by(|a, b| b.cmp(a));
        hits
    }
}
