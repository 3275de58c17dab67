//! Pruning pass 1: bounds for every record of a block, from its tiles.

use crate::codes::Codes;
use crate::lanes::Lanes;
use crate::layout::{META_FIELD_BYTES, TILE_RECORDS};
use crate::query::Weights;
use crate::residence::Residence;
use crate::scan::{Candidate, HigherFloor, Scan, bits_of_tile};

/// Reads the tiles once for all scans.
///
/// # Safety
/// The CPU has `L`'s instructions and the caller is compiled for them; the queries have the codes'
/// layout.
#[inline(always)]
pub(crate) unsafe fn scan_codes<L: Lanes>(
    codes: &Codes,
    residence: Residence,
    scans: &mut [Scan<'_>],
) {
    let packed = interleaved::<L>(scans);
    let (needed, is_sequential) = needed_tiles(codes, scans);
    let tile_bytes = codes.layout().tile_bytes();
    let ahead = if !is_sequential {
        Some(AHEAD)
    } else if residence == Residence::Memory && tile_bytes <= AHEAD_BYTES {
        Some(AHEAD_BYTES.div_ceil(tile_bytes))
    } else {
        None
    };
    for (at, &tile) in needed.iter().enumerate() {
        if let Some(&next) = ahead.and_then(|ahead| needed.get(at + ahead)) {
            let tile = codes.tile(usize::from(next));
            for line in tile.chunks(CACHE_LINE) {
                // SAFETY: the caller's contract; any address may be prefetched.
                unsafe { L::prefetch(line.as_ptr()) };
            }
        }
        let tile = usize::from(tile);
        // The first group loads the tile; the others usually find it in a cache. A sequential scan reads every tile,
        // even if no scan needs it, because skipping a tile stops the hardware prefetcher.
        let mut read_anyway = is_sequential;
        let mut left = &mut *scans;
        let mut queries = packed.as_ptr().cast();
        while !left.is_empty() {
            // SAFETY: the caller's contract; each pass gets at least as many scans as its `Q`, and their codes.
            (left, queries) = unsafe {
                match group_size::<L>(left.len()) {
                    8 => pass::<L, 8>(codes, tile, left, queries, read_anyway),
                    4 => pass::<L, 4>(codes, tile, left, queries, read_anyway),
                    2 => pass::<L, 2>(codes, tile, left, queries, read_anyway),
                    _ => pass::<L, 1>(codes, tile, left, queries, read_anyway),
                }
            };
            read_anyway = false;
        }
    }
}

/// The prefetch distance in tiles, if tiles are skipped.
const AHEAD: usize = 2;

/// The prefetch distance in bytes, if all tiles are read from memory.
///
/// On an AMD EPYC of the Zen 5 type, a scan of a million records takes 3.8 ns per record with 4 to 16 KiB, and 6.3 ns without
/// prefetches; a plain read takes 3.7 ns. Tiles of more bytes take up to 1.5 times as long with prefetches, and so do tiles
/// that are in a cache.
const AHEAD_BYTES: usize = 8 << 10;

/// Bytes of a cache line.
pub(crate) const CACHE_LINE: usize = 64;

/// The tiles to read, and whether these are all tiles.
///
/// A tile is needed if a scan has one of its records in its mask. If at least half of the tiles are needed, all are read,
/// because sequential reads are then no slower.
fn needed_tiles(codes: &Codes, scans: &[Scan<'_>]) -> (Vec<u16>, bool) {
    let tiles = codes.records().div_ceil(TILE_RECORDS);
    let mut needed = vec![0; tiles];
    let mut count = 0;
    for tile in 0..tiles {
        let mask = scans
            .iter()
            .fold(0, |mask, scan| mask | scan.tile_mask(tile));
        // Without a branch, because it would be mispredicted.
        needed[count] = tile as u16;
        count += usize::from(mask != 0);
    }
    if count * 2 >= tiles {
        return ((0..tiles as u16).collect(), true);
    }
    needed.truncate(count);
    (needed, false)
}

/// How many of the remaining queries share the next pass over a tile.
#[inline(always)]
fn group_size<L: Lanes>(left: usize) -> usize {
    match left.min(L::GROUP) {
        8.. => 8,
        4.. => 4,
        2.. => 2,
        _ => 1,
    }
}

/// The codes of each group's queries, four of one query next to the same four of the next, so that
/// a pass reads them sequentially.
#[inline(always)]
fn interleaved<L: Lanes>(scans: &[Scan<'_>]) -> Vec<[i8; 4]> {
    let words = scans
        .first()
        .map_or(0, |scan| scan.query.codes.head.len() / 4);
    let mut packed = Vec::with_capacity(scans.len() * words);
    let mut left = scans;
    while !left.is_empty() {
        let (group, others) = left.split_at(group_size::<L>(left.len()));
        for word in 0..words {
            packed.extend(
                group
                    .iter()
                    .map(|scan| scan.query.codes.head.as_chunks().0[word]),
            );
        }
        left = others;
    }
    packed
}

/// Scans one tile for the first `Q` scans, whose codes begin at `queries`. Returns the other scans and where their codes
/// begin. A tile that none of the `Q` scans needs is read only if `read_anyway`.
///
/// # Safety
/// As for [`scan_codes`]; there are at least `Q` scans.
#[inline(always)]
unsafe fn pass<'s, 'a, L: Lanes, const Q: usize>(
    codes: &Codes,
    tile: usize,
    scans: &'s mut [Scan<'a>],
    mut queries: *const i8,
    read_anyway: bool,
) -> (&'s mut [Scan<'a>], *const i8) {
    let (scans, others) = scans.split_at_mut(Q);
    let mut masks = [0; Q];
    for (mask, scan) in masks.iter_mut().zip(&*scans) {
        *mask = scan.tile_mask(tile) & valid_lanes(codes, tile);
    }
    let layout = codes.layout();
    // SAFETY: a tile has 64 bytes for each 4 fine and each 8 coarse dimensions, then 128 bytes of
    // scales and norms; a group has 4 codes a query for each 4 of these dimensions.
    unsafe {
        let next = queries.add(layout.head_dims() * Q);
        if masks == [0; Q] && !read_anyway {
            return (others, next);
        }
        let mut at = codes.tile(tile).as_ptr();
        let mut sums = [L::zero(); Q];
        for _ in 0..layout.fine() / 4 {
            let bytes = L::byte_codes(at);
            for sums in &mut sums {
                *sums = L::dot(*sums, bytes, L::repeat(queries));
                queries = queries.add(4);
            }
            at = at.add(64);
        }
        let fine = stored::<L, Q>(sums);
        let mut sums = [L::zero(); Q];
        for _ in 0..layout.coarse() / 8 {
            let nibbles = L::nibble_codes(at);
            for sums in &mut sums {
                let operands = (L::repeat(queries), L::repeat(queries.add(4 * Q)));
                *sums = L::dot_nibbles(*sums, nibbles, operands);
                queries = queries.add(4);
            }
            queries = queries.add(4 * Q);
            at = at.add(64);
        }
        let high = stored::<L, Q>(sums);
        let meta = Meta::<L>::load(at);
        for (index, scan) in scans.iter_mut().enumerate() {
            let products = [&fine[index], &high[index]];
            let biases = scan.query.biases(L::BYTE_OFFSET);
            let reaching = masks[index] & meta.reaching(products, biases, scan);
            if reaching != 0 {
                meta.add_candidates(products, biases, scan, tile, reaching);
            }
        }
        (others, next)
    }
}

/// Copies sums to memory. The loops above need the sums in registers, and the compiler does not keep an array in
/// registers that is indexed by a variable.
///
/// # Safety
/// As for [`scan_codes`].
#[inline(always)]
unsafe fn stored<L: Lanes, const Q: usize>(sums: [L::Sums; Q]) -> [[i32; 16]; Q] {
    // SAFETY: the caller's contract.
    sums.map(|sums| unsafe { L::sums(sums) })
}

/// The lanes of a tile that hold records.
#[inline(always)]
pub(crate) fn valid_lanes(codes: &Codes, tile: usize) -> u16 {
    let lanes = codes.records() - tile * TILE_RECORDS;
    if lanes < TILE_RECORDS {
        (1 << lanes) - 1
    } else {
        u16::MAX
    }
}

/// A tile's scales and norms, in units of 1/65535.
pub(crate) struct Meta<L: Lanes> {
    scale: L::Floats,
    coarse_residual: L::Floats,
    tail_norm: L::Floats,
    fine_residual: L::Floats,
}

impl<L: Lanes> Meta<L> {
    /// # Safety
    /// As for [`scan_codes`]; `at` is where a tile's scales begin.
    #[inline(always)]
    pub(crate) unsafe fn load(at: *const u8) -> Self {
        // SAFETY: scales, coarse residuals, tail norms and fine residuals are contiguous.
        unsafe {
            Self {
                scale: L::words(at),
                coarse_residual: L::words(at.add(META_FIELD_BYTES)),
                tail_norm: L::words(at.add(2 * META_FIELD_BYTES)),
                fine_residual: L::words(at.add(3 * META_FIELD_BYTES)),
            }
        }
    }

    /// The estimates and the errors of cosines. `fine` and `high` are the products of the query with the fine codes and the
    /// high nibbles of the records: the dot products plus `biases`.
    ///
    /// # Safety
    /// As for [`scan_codes`].
    #[inline(always)]
    unsafe fn bounds(
        &self,
        [fine, high]: [&[i32; TILE_RECORDS]; 2],
        biases: [i32; 2],
        weights: &Weights,
    ) -> (L::Floats, L::Floats) {
        // SAFETY: the caller's contract.
        unsafe {
            let (fine, high) = (L::floats(fine, biases[0]), L::floats(high, biases[1]));
            // The order of the operations determines the bits of the result. `reference` uses the same order.
            let sum = L::add(
                L::mul(L::splat(weights.fine), fine),
                L::mul(L::splat(weights.high), high),
            );
            let estimate = L::mul(self.scale, sum);
            let error = L::add(
                L::add(
                    L::mul(L::splat(weights.coarse_residual), self.coarse_residual),
                    L::mul(L::splat(weights.tail_norm), self.tail_norm),
                ),
                L::add(
                    L::mul(L::splat(weights.fine_residual), self.fine_residual),
                    L::splat(weights.head_slack),
                ),
            );
            (estimate, error)
        }
    }

    /// A bit for each record whose cosine may reach the floor of a scan. The arguments are as for [`Meta::bounds`].
    ///
    /// # Safety
    /// As for [`scan_codes`].
    #[inline(always)]
    pub(crate) unsafe fn reaching(
        &self,
        products: [&[i32; TILE_RECORDS]; 2],
        biases: [i32; 2],
        scan: &Scan<'_>,
    ) -> u16 {
        // SAFETY: the caller's contract.
        unsafe {
            let (estimate, error) = self.bounds(products, biases, &scan.query.weights);
            L::at_least(L::add(estimate, error), L::splat(scan.floor))
        }
    }

    /// Adds a candidate to a scan for each record of `reaching` whose cosine may be between the floor of the record and the
    /// ceiling.
    ///
    /// # Safety
    /// As for [`scan_codes`].
    #[inline(always)]
    pub(crate) unsafe fn add_candidates(
        &self,
        products: [&[i32; TILE_RECORDS]; 2],
        biases: [i32; 2],
        scan: &mut Scan<'_>,
        tile: usize,
        reaching: u16,
    ) {
        // SAFETY: the caller's contract; each candidate that is added is written to the room that was reserved.
        unsafe {
            let (estimate, error) = self.bounds(products, biases, &scan.query.weights);
            let mut kept = reaching;
            if let Some(HigherFloor { floor, except }) = scan.higher {
                let highest = L::add(estimate, error);
                kept &= L::at_least(highest, L::splat(floor)) | bits_of_tile(except, tile);
            }
            kept &= L::at_least(L::splat(scan.ceiling), L::sub(estimate, error));
            let (estimates, errors) = (L::store(estimate), L::store(error));
            // The room is checked once, because a check for each candidate takes longer than to write it.
            scan.found.reserve(TILE_RECORDS);
            let mut end = scan.found.len();
            let first = scan.found.as_mut_ptr();
            while kept != 0 {
                let lane = kept.trailing_zeros() as usize;
                kept &= kept - 1;
                first.add(end).write(Candidate {
                    slot: (tile * TILE_RECORDS + lane) as u16,
                    estimate: estimates[lane],
                    error: errors[lane],
                });
                end += 1;
            }
            scan.found.set_len(end);
        }
    }
}
