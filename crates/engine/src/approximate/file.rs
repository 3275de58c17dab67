//! An approximate index on disk, next to the other index files. Losing it costs time, and never a record.
//!
//! | file | what |
//! |---|---|
//! | `N.graph` | a graph as the `usearch` crate writes it |
//! | `approximate` | a parts file: the graph's number, length, CRC-32 and scale, and the blocks in it (JSON) |

use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::approximate::graph::Graph;
use crate::approximate::index::{Index, Member};
use crate::disk::{Disk, OpenFile, Owner, PartsFile, create_directories, write_parts_file};
use crate::snapshot::{FileId, GRAPH, GRAPH_LIST, Unusable, index_file_path};

/// Version of the files. A graph that was built in another way can't be used.
const FORMAT: u64 = 2;

/// Bytes of a graph's file that are read at a time to compute its checksum.
const CHUNK_BYTES: usize = 1 << 20;

const LIST: Unusable = Unusable::Content("the list of the graph cannot be read");

/// Saves an index in `directory`. A crash leaves the index that was saved before.
pub(crate) fn save(
    disk: &dyn Disk,
    index: &Index,
    directory: &Path,
    owner: &Owner,
) -> Result<(), Unusable> {
    create_directories(disk, directory)?;
    let members = index.members();
    let number = FileId::next();
    let path = index_file_path(directory, number, GRAPH);
    let (bytes, crc) = save_graph(disk, index, &path).inspect_err(|_| {
        // The error of the save is returned. An incomplete file can't be used.
        let _ = disk.remove_file(&path);
    })?;
    let blocks: Vec<Value> = members
        .iter()
        .map(|member| json!([member.body.0, member.held, member.vectors]))
        .collect();
    let list = json!({
        "format": FORMAT, "graph": number.0, "bytes": bytes, "crc": crc,
        "scale": index.graph.scale().to_bits(), "blocks": blocks,
    });
    write_parts_file(
        disk,
        &list_path(directory),
        owner,
        &[list.to_string().as_bytes()],
    )?;
    remove_all_but(disk, directory, &path);
    Ok(())
}

/// Writes the graph and syncs it; returns its length and CRC-32.
fn save_graph(disk: &dyn Disk, index: &Index, path: &Path) -> Result<(u64, u32), Unusable> {
    index.graph.save(path)?;
    let file = disk.open(path)?;
    let sums = checksum(&file)?;
    disk.sync(&file)?;
    Ok(sums)
}

/// Reads the saved index.
pub(crate) fn load(
    disk: &dyn Disk,
    directory: &Path,
    owner: &Owner,
    dimensions: usize,
) -> Result<Index, Unusable> {
    let list = PartsFile::open(disk, &list_path(directory), owner)?.read_part(0)?;
    let list: Value = serde_json::from_slice(&list).map_err(|_| LIST)?;
    let number = |value: &Value| value.as_u64().ok_or(LIST);
    if number(&list["format"])? != FORMAT {
        return Err(Unusable::Content("the graph is of another version"));
    }
    let path = index_file_path(directory, FileId(number(&list["graph"])?).seen(), GRAPH);
    let (bytes, crc) = checksum(&disk.open(&path)?)?;
    if number(&list["bytes"])? != bytes || number(&list["crc"])? != u64::from(crc) {
        return Err(Unusable::Content("the graph does not match its list"));
    }
    let mut blocks = Vec::new();
    for block in list["blocks"].as_array().ok_or(LIST)? {
        blocks.push(Member {
            body: FileId(number(&block[0])?).seen(),
            held: number(&block[1])? as usize,
            vectors: number(&block[2])? as usize,
        });
    }
    let scale = f32::from_bits(number(&list["scale"])? as u32);
    let graph = Graph::load(disk, &path, dimensions, scale)?;
    let vectors: usize = blocks.iter().map(|member| member.vectors).sum();
    if graph.len() != vectors {
        return Err(Unusable::Content("the graph does not match its list"));
    }
    Ok(Index::of(graph, blocks))
}

/// Length and CRC-32 of a file.
fn checksum(file: &OpenFile) -> io::Result<(u64, u32)> {
    let mut hasher = crc32fast::Hasher::new();
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut bytes = 0;
    loop {
        let read = file.read(&mut chunk)?;
        if read == 0 {
            return Ok((bytes, hasher.finalize()));
        }
        hasher.update(&chunk[..read]);
        bytes += read as u64;
    }
}

/// Removes the saved index. What cannot be removed now is replaced or removed later.
pub(crate) fn remove(disk: &dyn Disk, directory: &Path) {
    let _ = disk.remove_file(&list_path(directory));
    remove_all_but(disk, directory, Path::new(""));
}

/// Removes graphs that the list does not name.
fn remove_all_but(disk: &dyn Disk, directory: &Path, kept: &Path) {
    let Ok(entries) = disk.list(directory) else {
        return;
    };
    for path in entries {
        if path.extension().is_some_and(|kind| kind == GRAPH) && path != kept {
            // The next save tries again to remove a file that can't be removed now.
            let _ = disk.remove_file(&path);
        }
    }
}

fn list_path(directory: &Path) -> PathBuf {
    directory.join(GRAPH_LIST)
}
