//! Search for many patterns by a few adjacent grams of each, which are rare in the searched texts.
//!
//! Of a text, only every second or fourth place is looked up if the patterns are long enough: a pattern that has as many
//! adjacent grams in the table has one of them at such a place, wherever it begins. A table of bits, which fits the level-1
//! cache, tells for each place whether the gram of a pattern may be there. No place depends on another one, so the processor
//! looks several places up at once.

use hashbrown::HashMap;
use memchr::memmem::Finder;

/// Maximal length of a gram.
const MAX_GRAM: usize = 8;

/// Grams of fewer bytes are in so many texts that to look fewer places up gains nothing. The more patterns there are, the more
/// places of a text have one of their grams.
const MIN_GRAM: usize = 5;
const MIN_GRAM_OF_MANY: usize = 7;
const FEW_PATTERNS: usize = 256;

/// Distances between places that are looked up, descending.
const STRIDES: [usize; 3] = [4, 2, 1];

/// Places that are looked up before the first branch that depends on them, and the bytes that these places take.
const LOOK_UPS: usize = 8;
const PIECE: usize = (LOOK_UPS - 1) * STRIDES[0] + MAX_GRAM;

/// Bits of the hash of a gram in the table of bits.
const HASH_BITS: u32 = 17;

/// Bits of the hash of a gram, by which grams are counted in a sample.
const COUNT_BITS: u32 = 17;

/// Grams of a pattern among which the rare ones are searched.
const MAX_STARTS: usize = 256;

/// Estimated nanoseconds to search a byte of text.
pub(super) const SCAN_COST: f64 = 0.4;

/// A pattern is compared at most once for this many bytes of text, on average.
const BYTES_PER_COMPARISON: usize = 4;

/// The comparison of a longer pattern counts once more for this many of its bytes.
const COMPARED_BYTES: usize = 64;

/// Comparisons that a text of any length may take.
const MIN_COMPARISONS: usize = 64;

/// Where the grams of patterns are.
#[derive(Debug)]
pub(super) struct GramTable {
    grams: Grams,
    bits: Bits,
    /// By gram, the patterns that have it.
    patterns: HashMap<u64, Vec<PatternGram>>,
}

/// A bit for each hash of a gram.
#[derive(Debug)]
struct Bits(Box<[u64; 1 << (HASH_BITS - 6)]>);

/// Which grams are in the table.
#[derive(Clone, Copy, Debug)]
struct Grams {
    /// The places of a text that are looked up are multiples of this. As many adjacent grams of each pattern are in the
    /// table, so that one of them begins at such a place.
    stride: usize,
    /// Bytes of a gram.
    length: usize,
}

/// A gram by which a pattern is found.
#[derive(Clone, Copy, Debug)]
struct PatternGram {
    pattern: usize,
    /// Where it begins in the pattern.
    start: usize,
}

/// The text has more possible occurrences of patterns than are worth comparing.
pub(super) struct TooManyComparisons;

impl GramTable {
    /// The table of some patterns, none of them empty, for texts like those of `sample`.
    pub(super) fn build<'t>(
        patterns: &[Finder<'_>],
        sample: impl IntoIterator<Item = &'t [u8]>,
    ) -> Self {
        let grams = Grams::of(patterns);
        let starts = grams.choose(patterns, sample);
        let mut table = Self {
            grams,
            bits: Bits(Box::new([0; 1 << (HASH_BITS - 6)])),
            patterns: HashMap::with_capacity(starts.len() * grams.stride),
        };
        for (pattern, first) in starts.into_iter().enumerate() {
            let needle = patterns[pattern].needle();
            for start in first..first + grams.stride {
                let gram = grams.at(needle, start);
                table.bits.add(gram);
                let of_gram = table.patterns.entry(gram).or_default();
                of_gram.push(PatternGram { pattern, start });
            }
        }
        table
    }

    /// Whether a text contains one of the patterns that the table was built of.
    ///
    /// # Errors
    /// [`TooManyComparisons`].
    pub(super) fn matches(
        &self,
        patterns: &[Finder<'_>],
        text: &[u8],
    ) -> Result<bool, TooManyComparisons> {
        let mut comparisons = MIN_COMPARISONS + text.len() / BYTES_PER_COMPARISON;
        let mut from = 0;
        while let Some((at, gram)) = self.next(text, from) {
            from = at + self.grams.stride;
            let Some(of_gram) = self.patterns.get(&gram) else {
                continue;
            };
            for &PatternGram { pattern, start } in of_gram {
                let begins_inside = at.checked_sub(start).map(|begin| &text[begin..]);
                let needle = patterns[pattern].needle();
                comparisons = comparisons
                    .checked_sub(1 + needle.len() / COMPARED_BYTES)
                    .ok_or(TooManyComparisons)?;
                if begins_inside.is_some_and(|rest| rest.starts_with(needle)) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// The first place from `from` on, in steps of the stride, where the gram of a pattern may be, and the gram of the text
    /// there.
    fn next(&self, text: &[u8], from: usize) -> Option<(usize, u64)> {
        // With a constant stride, the places of a piece need no bounds check.
        match self.grams.stride {
            4 => self.next_by::<4>(text, from),
            2 => self.next_by::<2>(text, from),
            _ => self.next_by::<1>(text, from),
        }
    }

    #[inline(always)]
    fn next_by<const STRIDE: usize>(&self, text: &[u8], from: usize) -> Option<(usize, u64)> {
        let mask = self.grams.mask();
        let mut rest = text.get(from..)?;
        while let Some(piece) = rest.first_chunk::<PIECE>() {
            let mut hits = 0_u32;
            for place in 0..LOOK_UPS {
                let eight = piece[place * STRIDE..].first_chunk().copied();
                let gram = u64::from_le_bytes(eight.unwrap_or_default()) & mask;
                hits |= u32::from(self.bits.may_have(gram)) << place;
            }
            if hits != 0 {
                let at = text.len() - rest.len() + hits.trailing_zeros() as usize * STRIDE;
                return Some((at, self.grams.at(text, at)));
            }
            rest = &rest[LOOK_UPS * STRIDE..];
        }
        let end = (text.len() + 1).saturating_sub(self.grams.length);
        let mut places = (text.len() - rest.len()..end).step_by(STRIDE);
        places.find_map(|at| {
            let gram = self.grams.at(text, at);
            self.bits.may_have(gram).then_some((at, gram))
        })
    }
}

impl Bits {
    fn add(&mut self, gram: u64) {
        let bit = hash(gram, HASH_BITS);
        self.0[bit / 64] |= 1 << (bit % 64);
    }

    #[inline(always)]
    fn may_have(&self, gram: u64) -> bool {
        let bit = hash(gram, HASH_BITS);
        self.0[bit / 64] >> (bit % 64) & 1 == 1
    }
}

impl Grams {
    /// The largest stride for which the grams of some patterns, none of them empty, are long enough.
    fn of(patterns: &[Finder<'_>]) -> Self {
        let lengths = patterns.iter().map(|finder| finder.needle().len());
        let shortest = lengths.min().unwrap_or(0);
        let min_gram = match patterns.len() {
            ..=FEW_PATTERNS => MIN_GRAM,
            _ => MIN_GRAM_OF_MANY,
        };
        let most = (shortest + 1).saturating_sub(min_gram);
        let stride = STRIDES.into_iter().find(|stride| *stride <= most);
        let stride = stride.unwrap_or(1);
        Self {
            stride,
            length: (shortest + 1 - stride).min(MAX_GRAM),
        }
    }

    /// Where the grams of each pattern begin that are rarest in a sample.
    fn choose<'t>(
        self,
        patterns: &[Finder<'_>],
        sample: impl IntoIterator<Item = &'t [u8]>,
    ) -> Vec<usize> {
        let counts = self.counts(sample);
        let mut of_pattern: Vec<u32> = Vec::new();
        let starts = patterns.iter().map(|finder| {
            let needle = finder.needle();
            let starts = (0..=needle.len() - self.length).take(MAX_STARTS);
            of_pattern.clear();
            of_pattern.extend(starts.map(|start| {
                let count = counts[hash(self.at(needle, start), COUNT_BITS)];
                u32::from(count)
            }));
            let windows = of_pattern.windows(self.stride).enumerate();
            let sums = windows.map(|(start, counts)| (counts.iter().sum::<u32>(), start));
            sums.min().map_or(0, |(_, start)| start)
        });
        starts.collect()
    }

    /// How often the grams of each hash are in a sample.
    fn counts<'t>(self, sample: impl IntoIterator<Item = &'t [u8]>) -> Vec<u16> {
        let mut counts = vec![0_u16; 1 << COUNT_BITS];
        for text in sample {
            for start in 0..(text.len() + 1).saturating_sub(self.length) {
                let count = &mut counts[hash(self.at(text, start), COUNT_BITS)];
                *count = count.saturating_add(1);
            }
        }
        counts
    }

    /// The gram that begins at `start`, as a number.
    #[inline(always)]
    fn at(&self, text: &[u8], start: usize) -> u64 {
        let eight = match text[start..].first_chunk::<MAX_GRAM>() {
            Some(eight) => *eight,
            None => {
                let mut eight = [0; MAX_GRAM];
                eight[..text.len() - start].copy_from_slice(&text[start..]);
                eight
            }
        };
        u64::from_le_bytes(eight) & self.mask()
    }

    /// The bytes of a number that a gram takes.
    #[inline(always)]
    fn mask(&self) -> u64 {
        u64::MAX >> (8 * (MAX_GRAM - self.length))
    }
}

/// A hash of `bits` bits.
#[inline(always)]
fn hash(gram: u64, bits: u32) -> usize {
    // The high bits of the product depend on all bits of the gram.
    (gram.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - bits)) as usize
}
