//! A check of the file of a graph before the `usearch` crate reads it.
//!
//! The crate trusts sizes, levels and links, so a file that somebody else made could let it read and write any memory. All
//! numbers are little-endian.
//!
//! | bytes | what |
//! |---|---|
//! | 4, 4 | number of vectors, n, and bytes of each |
//! | … | the vectors |
//! | 64 | head: `usearch`, version, kinds; at 33 the dimensions (8) |
//! | 8 each | n, links of a node, links on the lowest level, highest level, node at which searches begin |
//! | 2 n | the level of each node |
//! | … | the nodes: key (8), level (2), and for each level from 0 on the number of links (4) and room for all (4 each) |

use std::io::{self, BufReader, Read};

use crate::disk::OpenFile;
use crate::snapshot::Unusable;

const HEAD_BYTES: usize = 64;
const MAGIC: &[u8; 7] = b"usearch";

/// Where the head has the dimensions.
const DIMENSIONS_AT: usize = 33;

/// A node has a higher level with a probability below 2^-64.
const MAX_LEVEL: i16 = 32;

const READ_BYTES: usize = 1 << 20;

/// Checks that every number that leads to memory stays inside of the graph: a graph of vectors with one byte for each of
/// the `dimensions`, whose nodes have `connectivity` links and twice as many on the lowest level.
///
/// # Errors
/// [`Unusable::Content`]; [`Unusable::Io`].
pub(super) fn check(
    file: &OpenFile,
    dimensions: usize,
    connectivity: usize,
) -> Result<(), Unusable> {
    let mut reader = Reader {
        left: file.length()?,
        from: BufReader::with_capacity(READ_BYTES, Bytes(file)),
    };
    let (vectors, bytes) = (reader.number(4)?, reader.number(4)?);
    if bytes != dimensions as u64 {
        return Err(DAMAGED);
    }
    // At most 2^64, because both have four bytes.
    reader.skip(vectors * bytes)?;
    let head = reader.bytes(HEAD_BYTES)?;
    let stated = head[DIMENSIONS_AT..].first_chunk().copied();
    if !head.starts_with(MAGIC) || stated.map(u64::from_le_bytes) != Some(dimensions as u64) {
        return Err(DAMAGED);
    }
    let [nodes, links, lowest, highest, entry] = {
        let mut numbers = [0; 5];
        for number in &mut numbers {
            *number = reader.number(8)?;
        }
        numbers
    };
    let expected = [vectors, connectivity as u64, 2 * connectivity as u64];
    if [nodes, links, lowest] != expected || nodes > reader.left {
        return Err(DAMAGED);
    }
    let levels = reader.bytes(2 * nodes as usize)?;
    let levels: Vec<i16> = levels
        .as_chunks()
        .0
        .iter()
        .map(|&level| i16::from_le_bytes(level))
        .collect();
    let level_of = |node: u64| levels.get(node as usize).copied();
    let in_order = levels.iter().all(|level| (0..=MAX_LEVEL).contains(level));
    if !in_order || nodes > 0 && level_of(entry).map(|level| level as u64) != Some(highest) {
        return Err(DAMAGED);
    }
    for &level in &levels {
        let key = reader.number(8)?;
        if key > u64::from(u32::MAX) || reader.number(2)? != level as u64 {
            return Err(DAMAGED);
        }
        for at in 0..=level {
            let room = if at == 0 { lowest } else { links };
            let count = reader.number(4)?;
            let slots = reader.bytes(4 * room as usize)?;
            let linked = slots.as_chunks().0.iter().take(count as usize);
            // A node that is linked on a level has links of its own there.
            let fits = linked
                .map(|&slot| u64::from(u32::from_le_bytes(slot)))
                .all(|slot| level_of(slot).is_some_and(|level| level >= at));
            if count > room || !fits {
                return Err(DAMAGED);
            }
        }
    }
    if reader.left > 0 {
        return Err(DAMAGED);
    }
    Ok(())
}

const DAMAGED: Unusable = Unusable::Content("the graph is damaged");

/// The bytes of a file from its current position on.
struct Bytes<'a>(&'a OpenFile);

impl Read for Bytes<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.read(into)
    }
}

/// Reads a file in order, and never past its end.
struct Reader<'a> {
    from: BufReader<Bytes<'a>>,
    left: u64,
}

impl Reader<'_> {
    fn bytes(&mut self, count: usize) -> Result<Vec<u8>, Unusable> {
        self.take(count as u64)?;
        let mut bytes = vec![0; count];
        self.from.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// An integer of up to eight bytes.
    fn number(&mut self, count: usize) -> Result<u64, Unusable> {
        self.take(count as u64)?;
        let mut bytes = [0; 8];
        self.from.read_exact(&mut bytes[..count])?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn skip(&mut self, count: u64) -> Result<(), Unusable> {
        self.take(count)?;
        let skipped = io::copy(&mut self.from.by_ref().take(count), &mut io::sink())?;
        if skipped == count {
            Ok(())
        } else {
            Err(DAMAGED)
        }
    }

    fn take(&mut self, count: u64) -> Result<(), Unusable> {
        self.left = self.left.checked_sub(count).ok_or(DAMAGED)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use super::*;
    use crate::approximate::graph::Graph;
    use crate::disk::{Disk, RealDisk};

    const DIMENSIONS: usize = 8;

    #[test]
    fn a_graph_with_a_wrong_number_is_refused_and_no_changed_byte_is_dangerous() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("1.graph");
        let graph = Graph::new(DIMENSIONS, 1 << 30).expect("a graph");
        let mut state = 7_u32;
        let mut random = || {
            // Xorshift32, <https://doi.org/10.18637/jss.v008.i14>.
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state
        };
        let count = 2_000;
        for key in 0..count {
            let vector: Vec<i32> = (0..DIMENSIONS).map(|_| random() as i32 >> 2).collect();
            graph.add(key, &vector).expect("added");
        }
        graph.save(&path).expect("saved");
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        let load = || Graph::load(&*disk, &path, DIMENSIONS, 1.0);
        assert_eq!(load().map(|graph| graph.len()).ok(), Some(count as usize));
        let original = fs::read(&path).expect("read");
        let start = 8 + count as usize * DIMENSIONS + HEAD_BYTES;
        let levels = start + 40;
        let nodes = levels + 2 * count as usize;
        let changed = |at: usize, bytes: &[u8]| {
            let mut changed = original.clone();
            changed[at..at + bytes.len()].copy_from_slice(bytes);
            fs::write(&path, changed).expect("written");
            load()
        };
        for (what, at, bytes) in [
            ("the number of vectors", 0, &[0xff, 0xff, 0xff, 0xff][..]),
            ("the bytes of a vector", 4, &[9]),
            ("the dimensions", start - HEAD_BYTES + DIMENSIONS_AT, &[9]),
            ("the number of nodes", start, &[0xff; 8]),
            ("the links of a node", start + 8, &[17]),
            ("the links on the lowest level", start + 16, &[0xff]),
            ("the highest level", start + 24, &[99]),
            ("the first node", start + 32, &[0xff; 8]),
            ("a level below 0", levels + 20, &[0, 0x80]),
            ("a level above all", levels + 20, &[0xff, 0x7f]),
            ("the level of a node", nodes + 8, &[9]),
            ("a key of a removed node", nodes, &[0xff; 8]),
            ("the number of links", nodes + 10, &[0xff; 4]),
            ("a link", nodes + 14, &[0xff; 4]),
        ] {
            let refused = changed(at, bytes).err().expect(what);
            assert_eq!(refused.to_string(), DAMAGED.to_string(), "{what}");
        }
        fs::write(&path, [&original[..], &[0]].concat()).expect("written");
        assert!(load().is_err(), "a byte too many");
        fs::write(&path, &original[..original.len() - 1]).expect("written");
        assert!(load().is_err(), "a byte too few");
        let mut loaded = 0;
        for _ in 0..2_000 {
            let at = start + random() as usize % (original.len() - start);
            let Ok(graph) = changed(at, &[random() as u8]) else {
                continue;
            };
            loaded += 1;
            let found = graph
                .near(&[1 << 28; DIMENSIONS], 50, |_| true)
                .expect("searched");
            assert!(found.is_some_and(|keys| !keys.is_empty()));
            graph.add(count, &[1 << 27; DIMENSIONS]).expect("added");
        }
        assert!(loaded > 100, "{loaded}");
    }
}
