//! Records of a block whose vectors are equal.

use hashbrown::HashMap;

use crate::columns::{BLOCK_RECORDS, Mask};
use crate::runtime::give_way;

/// Fewer records with the same vector are scored one by one.
const MIN_RECORDS: usize = 16;

/// The records of a block that share their vector with many others of the block. A search scores each of the vectors once.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct EqualVectors {
    /// The records of all groups.
    pub(crate) records: Mask,
    /// The slots of each group, ascending. The groups are ordered by their first slot.
    slots: Box<[u16]>,
    /// Where each group ends in `slots`.
    ends: Box<[u16]>,
}

impl EqualVectors {
    /// Groups records by their vectors; `None` when no vector has many records.
    pub(super) fn find<'a>(vectors: impl Iterator<Item = (usize, &'a [i32])>) -> Option<Box<Self>> {
        let mut places: HashMap<&[i32], usize> = HashMap::new();
        let mut records: Vec<(usize, usize)> = Vec::new();
        let mut counts: Vec<usize> = Vec::new();
        for (slot, vector) in vectors {
            give_way();
            let place = *places.entry(vector).or_insert(counts.len());
            if place == counts.len() {
                counts.push(0);
            }
            counts[place] += 1;
            records.push((place, slot));
        }
        records.retain(|&(place, _)| counts[place] >= MIN_RECORDS);
        records.sort_unstable();
        let groups = records.chunk_by(|a, b| a.0 == b.0);
        let ends: Vec<usize> = groups
            .scan(0, |end, group| {
                *end += group.len();
                Some(*end)
            })
            .collect();
        Self::new(records.iter().map(|&(_, slot)| slot).collect(), &ends)
    }

    fn new(slots: Vec<usize>, ends: &[usize]) -> Option<Box<Self>> {
        // A block has up to 4,096 records, so slots and ends fit.
        (!slots.is_empty()).then(|| {
            Box::new(Self {
                records: slots.iter().copied().collect(),
                slots: slots.iter().map(|&slot| slot as u16).collect(),
                ends: ends.iter().map(|&end| end as u16).collect(),
            })
        })
    }

    /// The slots of each group, ascending.
    fn groups(&self) -> impl Iterator<Item = &[u16]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let ranges = starts.zip(&self.ends);
        ranges.map(|(start, &end)| &self.slots[usize::from(start)..usize::from(end)])
    }

    /// The selected records of each group, ascending.
    pub(crate) fn selected_groups<'a>(
        &'a self,
        selected: &'a Mask,
    ) -> impl Iterator<Item = impl Iterator<Item = usize> + 'a> + 'a {
        self.groups().map(|group| {
            let slots = group.iter().map(|&slot| usize::from(slot));
            slots.filter(|&slot| selected.get(slot))
        })
    }

    /// The first selected record of each group.
    pub(crate) fn firsts<'a>(&'a self, selected: &'a Mask) -> impl Iterator<Item = usize> + 'a {
        self.selected_groups(selected)
            .filter_map(|mut group| group.next())
    }

    /// The selected records of the group whose first selected record is `first`; none if there is no such group.
    pub(crate) fn group_of<'a>(
        &'a self,
        first: usize,
        selected: &'a Mask,
    ) -> impl Iterator<Item = usize> + 'a {
        self.selected_groups(selected)
            .map(Iterator::peekable)
            .find_map(|mut group| (group.peek() == Some(&first)).then_some(group))
            .into_iter()
            .flatten()
    }

    /// Bytes in memory.
    pub(super) fn memory_bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.slots) + size_of_val(&*self.ends)
    }

    /// The number of slots, then the slots and the ends, each as two little-endian bytes.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let count = self.slots.len() as u16;
        let numbers = std::iter::once(&count).chain(&self.slots).chain(&self.ends);
        numbers.flat_map(|number| number.to_le_bytes()).collect()
    }

    /// Reads the bytes of [`EqualVectors::to_bytes`] for a block of `records`; `None` when they are not what it writes.
    pub(super) fn from_bytes(bytes: &[u8], records: usize) -> Option<Box<Self>> {
        let (numbers, []) = bytes.as_chunks::<2>() else {
            return None;
        };
        let mut numbers = numbers
            .iter()
            .map(|&bytes| usize::from(u16::from_le_bytes(bytes)));
        let count = numbers.next()?;
        let slots: Vec<usize> = numbers.by_ref().take(count).collect();
        let ends: Vec<usize> = numbers.collect();
        let rising = ends.windows(2).all(|ends| ends[0] < ends[1]);
        let within = slots.iter().all(|&slot| slot < records.min(BLOCK_RECORDS));
        if slots.len() != count || !rising || !within || ends.last() != Some(&count) || ends[0] == 0
        {
            return None;
        }
        let read = Self::new(slots, &ends)?;
        let ascending = |group: &[u16]| group.windows(2).all(|pair| pair[0] < pair[1]);
        let is_sound = read.records.count() == count && read.groups().all(ascending);
        is_sound.then_some(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Vectors of which each `every`th is one of three, the others all different.
    fn vectors(records: usize, every: usize) -> Vec<Vec<i32>> {
        let vector = |slot: usize| match slot % every {
            0 => vec![-1, (slot / every % 3) as i32],
            _ => vec![slot as i32, 7],
        };
        (0..records).map(vector).collect()
    }

    fn find(vectors: &[Vec<i32>]) -> Option<Box<EqualVectors>> {
        EqualVectors::find(vectors.iter().map(Vec::as_slice).enumerate())
    }

    #[test]
    fn equal_vectors_are_in_one_group_also_from_bytes() {
        for (records, every) in [(4096, 1), (4096, 2), (4096, 80), (500, 3), (48, 1)] {
            let vectors = vectors(records, every);
            let found = find(&vectors).expect("there are equal vectors");
            let read = EqualVectors::from_bytes(&found.to_bytes(), records).expect("its own bytes");
            assert_eq!(found, read);
            let mut grouped = Mask::empty();
            for group in read.groups() {
                let vector = &vectors[usize::from(group[0])];
                let expected: Vec<u16> = (0..records)
                    .filter(|&slot| &vectors[slot] == vector)
                    .map(|slot| slot as u16)
                    .collect();
                assert_eq!(group, expected);
                group.iter().for_each(|&slot| grouped.set(slot.into()));
            }
            assert_eq!(grouped, read.records);
            let count = (0..records).filter(|slot| slot % every == 0).count();
            assert_eq!(grouped.count(), count, "{records} {every}");
        }
    }

    #[test]
    fn few_equal_vectors_are_no_group() {
        assert!(find(&vectors(3 * (MIN_RECORDS - 1), 1)).is_none());
        assert!(find(&[]).is_none());
    }

    #[test]
    fn other_bytes_are_refused() {
        let found = find(&vectors(400, 2)).expect("there are equal vectors");
        let bytes = found.to_bytes();
        assert!(
            EqualVectors::from_bytes(&bytes, 398).is_none(),
            "a slot too many"
        );
        for length in 0..bytes.len() {
            assert!(EqualVectors::from_bytes(&bytes[..length], 400).is_none());
        }
        assert!(EqualVectors::from_bytes(&[&bytes[..], &bytes[..2]].concat(), 400).is_none());
        assert!(EqualVectors::from_bytes(&[0; 64], 400).is_none());
    }
}
