//! Sets of values, for filters with many values of one column.

use hashbrown::HashSet;

use crate::record::Value;

/// Booleans, numbers and strings. A value of another type is never in the set.
#[derive(Clone, Debug, Default)]
pub(crate) struct ValueSet {
    /// Whether `false` and `true` are in the set.
    pub(super) booleans: [bool; 2],
    pub(super) numbers: NumberSet,
    pub(super) texts: TextSet,
}

/// Numbers, compared as IEEE doubles.
#[derive(Clone, Debug, Default)]
pub(super) struct NumberSet {
    sorted: Vec<f64>,
    /// The bits of each number.
    bits: HashSet<u64>,
    hashes: HashFilter,
}

/// Strings, compared by their bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct TextSet {
    texts: HashSet<Box<[u8]>>,
    hashes: HashFilter,
}

/// Excludes most values that are not in a set, in about a nanosecond: a bit for each hash of a value of the set.
#[derive(Clone, Debug)]
struct HashFilter {
    words: Vec<u64>,
    /// Hashes are shifted by this many bits, which leaves the number of a bit.
    shift: u32,
}

/// Bits of a hash filter for each value: one of 64 other values passes.
const BITS_PER_VALUE: usize = 64;

impl ValueSet {
    pub(crate) fn new<'a>(values: impl Iterator<Item = Value<'a>>) -> Self {
        let mut set = Self::default();
        let (count, _) = values.size_hint();
        for value in values {
            match value {
                Value::Boolean(boolean) => set.booleans[usize::from(boolean)] = true,
                Value::Number(number) => {
                    if set.numbers.bits.insert(bits_of(number)) {
                        set.numbers.sorted.push(number);
                    }
                }
                Value::Text(text) => {
                    if set.texts.is_empty() {
                        set.texts.texts.reserve(count);
                    }
                    set.texts.texts.insert(text.as_bytes().into());
                }
                Value::Null | Value::List(_) => {}
            }
        }
        set.numbers.sorted.sort_unstable_by(f64::total_cmp);
        let numbers = set.numbers.bits.iter().copied().map(mixed);
        set.numbers.hashes = HashFilter::new(set.numbers.bits.len(), numbers);
        let texts = set
            .texts
            .texts
            .iter()
            .map(|text| hash_of(text, 0, text.len()));
        set.texts.hashes = HashFilter::new(set.texts.texts.len(), texts);
        set
    }

    /// Whether a value is in the set.
    pub(crate) fn contains(&self, value: Value<'_>) -> bool {
        match value {
            Value::Boolean(boolean) => self.booleans[usize::from(boolean)],
            Value::Number(number) => self.numbers.bits.contains(&bits_of(number)),
            Value::Text(text) => self.texts.texts.contains(text.as_bytes()),
            Value::Null | Value::List(_) => false,
        }
    }
}

impl NumberSet {
    pub(super) fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    /// The numbers of the set from `min` to `max`, ascending.
    pub(super) fn between(&self, min: f64, max: f64) -> &[f64] {
        let first = self.sorted.partition_point(|&number| number < min);
        let end = self.sorted.partition_point(|&number| number <= max);
        &self.sorted[first.min(end)..end]
    }

    #[inline(always)]
    pub(super) fn contains(&self, number: f64) -> bool {
        let bits = bits_of(number);
        self.hashes.may_contain(mixed(bits)) && self.bits.contains(&bits)
    }
}

impl TextSet {
    pub(super) fn len(&self) -> usize {
        self.texts.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.texts.iter().map(|text| &**text)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Whether `text[start..end]` is in the set.
    #[inline(always)]
    pub(super) fn contains(&self, text: &[u8], start: usize, end: usize) -> bool {
        self.hashes.may_contain(hash_of(text, start, end)) && self.texts.contains(&text[start..end])
    }
}

impl Default for HashFilter {
    fn default() -> Self {
        Self::new(0, std::iter::empty())
    }
}

impl HashFilter {
    fn new(values: usize, hashes: impl Iterator<Item = u64>) -> Self {
        let bits = (values * BITS_PER_VALUE).next_power_of_two().max(64);
        let mut filter = Self {
            words: vec![0; bits / 64],
            shift: u64::BITS - bits.trailing_zeros(),
        };
        for hash in hashes {
            let bit = (hash >> filter.shift) as usize;
            filter.words[bit / 64] |= 1 << (bit % 64);
        }
        filter
    }

    #[inline(always)]
    fn may_contain(&self, hash: u64) -> bool {
        let bit = (hash >> self.shift) as usize;
        self.words[bit / 64] >> (bit % 64) & 1 == 1
    }
}

/// The bits of a number; those of 0 for -0, which equals 0.
#[inline(always)]
fn bits_of(number: f64) -> u64 {
    (number + 0.0).to_bits()
}

/// A multiplicative hash: its high bits depend on all bits of the input (<https://doi.org/10.1145/363235.363259>).
#[inline(always)]
fn mixed(bits: u64) -> u64 {
    (bits ^ (bits >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// A hash of `text[start..end]`: of its length, its first and its last eight bytes.
#[inline(always)]
fn hash_of(text: &[u8], start: usize, end: usize) -> u64 {
    let length = end - start;
    let eight = |at: usize| match text[at..].first_chunk() {
        Some(eight) => u64::from_le_bytes(*eight),
        None => {
            let mut eight = [0; 8];
            eight[..text.len() - at].copy_from_slice(&text[at..]);
            u64::from_le_bytes(eight)
        }
    };
    let (first, last) = if length >= 8 {
        (eight(start), eight(end - 8))
    } else {
        // Without the bytes after the string.
        (eight(start) & !(u64::MAX << (8 * length)), 0)
    };
    mixed(first ^ mixed(last ^ length as u64).rotate_left(29))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_of_a_string_does_not_depend_on_the_text_around_it() {
        let strings = [
            "",
            "a",
            "1234567",
            "12345678",
            "123456789",
            "a longer string, é",
        ];
        for string in strings {
            let around = format!("before{string}after");
            let alone = hash_of(string.as_bytes(), 0, string.len());
            assert_eq!(hash_of(around.as_bytes(), 6, 6 + string.len()), alone);
            let last = format!("before{string}");
            assert_eq!(hash_of(last.as_bytes(), 6, last.len()), alone);
        }
    }

    #[test]
    fn the_filter_passes_few_other_values() {
        let names: Vec<String> = (0..1000)
            .map(|at| format!("sku-{:08}", at * 7919))
            .collect();
        let set = ValueSet::new(names.iter().map(|name| Value::Text(name)));
        let passed = (0..100_000)
            .map(|at| format!("sku-{:08}", at * 31 + 5))
            .filter(|name| {
                let hash = hash_of(name.as_bytes(), 0, name.len());
                set.texts.hashes.may_contain(hash)
            })
            .count();
        // One of 64 is expected, and one of 65 if the filter has 65,536 bits.
        assert!((1..4000).contains(&passed), "{passed}");
    }
}
