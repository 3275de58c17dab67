//! Write-once files: index data in checked parts, complete or not there.
//!
//! All numbers are little-endian.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `cosift` and two zero bytes |
//! | 4 | format, 2 |
//! | 4 | number of parts, n |
//! | 16 | id of the store that the file was made from |
//! | 16 n | per part: length (8), CRC-32 of the part (4), zero (4) |
//! | 4 | CRC-32 of everything before |
//! | … | the parts, each from the next multiple of 64 on, zeros between |

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

const MAGIC: [u8; 8] = *b"cosift\0\0";
const FORMAT: u32 = 2;
/// Bytes before the table of the parts.
const HEAD: usize = 32;
/// A cache line, so that rows of 64 bytes never straddle two.
const ALIGNMENT: u64 = 64;

/// Ends the name of a file until it is complete.
pub(crate) const TEMPORARY: &str = "tmp";

/// Why a write-once file cannot be used. Every one of them means: derive it again.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It cannot be opened or read; most often it is not there.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is cut short, changed, or of another format.
    #[error("{} is damaged: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        what: &'static str,
    },
}

/// Id of the store that a file was made from.
pub(crate) type Owner = [u8; 16];

/// Writes `parts` to `path`, in place of what is there, so that a crash leaves the old file or the new one.
///
/// # Errors
/// The system's; the old file is untouched, unless syncing the directory was what failed.
pub(crate) fn write_once(path: &Path, owner: &Owner, parts: &[&[u8]]) -> io::Result<()> {
    let mut name = path
        .file_name()
        .ok_or(io::ErrorKind::InvalidInput)?
        .to_owned();
    name.push(".");
    name.push(TEMPORARY);
    // In the same directory: a rename is atomic only within a file system.
    let temporary = path.with_file_name(name);
    let written = write_parts(&temporary, owner, parts).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // The first error is the one that tells why; the leftover is overwritten next time at the latest.
        let _ = fs::remove_file(&temporary);
    }
    written?;
    sync_parent(path)
}

/// Makes the names in `directory` survive a power cut; PageCache has no such call and needs none.
pub(crate) fn sync_directory(directory: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(directory)?.sync_all()
    } else {
        Ok(())
    }
}

/// Makes a directory and those above it that are missing, for their owner only. They survive a power cut.
pub(crate) fn create_directories(directory: &Path) -> io::Result<()> {
    let missing: Vec<&Path> = directory
        .ancestors()
        .take_while(|path| !path.as_os_str().is_empty() && !path.exists())
        .collect();
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)?;
    // The lowest first, so that no synced name leads to a directory that could be lost.
    missing.into_iter().try_for_each(sync_parent)
}

/// Makes the name of `path` survive a power cut.
fn sync_parent(path: &Path) -> io::Result<()> {
    let directory = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    sync_directory(directory.unwrap_or(Path::new(".")))
}

fn write_parts(path: &Path, owner: &Owner, parts: &[&[u8]]) -> io::Result<()> {
    let header = header(owner, parts)?;
    let mut file = BufWriter::new(File::create(path)?);
    file.write_all(&header)?;
    let mut end = header.len() as u64;
    for part in parts {
        let start = end.next_multiple_of(ALIGNMENT);
        io::copy(&mut io::repeat(0).take(start - end), &mut file)?;
        file.write_all(part)?;
        end = start + part.len() as u64;
    }
    file.into_inner()?.sync_all()
}

fn header(owner: &Owner, parts: &[&[u8]]) -> io::Result<Vec<u8>> {
    let count = u32::try_from(parts.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let mut header = Vec::with_capacity(HEAD + parts.len() * 16 + 4);
    header.extend(MAGIC);
    header.extend(FORMAT.to_le_bytes());
    header.extend(count.to_le_bytes());
    header.extend(owner);
    for part in parts {
        header.extend((part.len() as u64).to_le_bytes());
        header.extend(crc32fast::hash(part).to_le_bytes());
        header.extend([0; 4]);
    }
    header.extend(crc32fast::hash(&header).to_le_bytes());
    Ok(header)
}

/// A write-once file, open for reading. Its length and its header are checked; each part is when it is read.
#[derive(Debug)]
pub(crate) struct PartsFile {
    path: PathBuf,
    file: File,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, Copy)]
struct Part {
    start: u64,
    length: u64,
    crc: u32,
}

impl PartsFile {
    /// Opens the file at `path`, made from the store `owner`.
    ///
    /// # Errors
    /// [`FileError::Io`], [`FileError::Damaged`].
    pub(crate) fn open(path: &Path, owner: &Owner) -> Result<PartsFile, FileError> {
        let io = |source| FileError::Io {
            path: path.to_owned(),
            source,
        };
        let damaged = |what| FileError::Damaged {
            path: path.to_owned(),
            what,
        };
        let mut file = File::open(path).map_err(io)?;
        let length = file.metadata().map_err(io)?.len();
        let mut header = vec![0; HEAD];
        read_header(&mut file, &mut header)
            .map_err(io)?
            .ok_or_else(|| damaged("header cut short"))?;
        if header[..8] != MAGIC {
            return Err(damaged("not a cosift file"));
        }
        if number(&header[8..12]) != u64::from(FORMAT) {
            return Err(damaged("another format"));
        }
        let count = number(&header[12..16]);
        // Before the table is checked its count may be anything: it must not decide how much is allocated.
        if count > length / 16 {
            return Err(damaged("header cut short"));
        }
        let mut table = vec![0; count as usize * 16 + 4];
        read_header(&mut file, &mut table)
            .map_err(io)?
            .ok_or_else(|| damaged("header cut short"))?;
        let crc = table.split_off(table.len() - 4);
        header.extend(table);
        if u64::from(crc32fast::hash(&header)) != number(&crc) {
            return Err(damaged("header changed"));
        }
        if header[16..HEAD] != *owner {
            return Err(damaged("made from another database"));
        }
        let mut end = header.len() as u64 + 4;
        let mut parts = Vec::new();
        for entry in header[HEAD..].chunks_exact(16) {
            let part = Part {
                start: end.next_multiple_of(ALIGNMENT),
                length: number(&entry[..8]),
                crc: number(&entry[8..12]) as u32,
            };
            if part.length > length {
                return Err(damaged("another length than the header says"));
            }
            end = part.start + part.length;
            parts.push(part);
        }
        if length != end {
            return Err(damaged("another length than the header says"));
        }
        Ok(PartsFile {
            path: path.to_owned(),
            file,
            parts,
        })
    }

    /// The error of a part whose content does not fit.
    pub(crate) fn damaged(&self, what: &'static str) -> FileError {
        FileError::Damaged {
            path: self.path.clone(),
            what,
        }
    }

    /// Number of parts.
    pub(crate) fn part_count(&self) -> usize {
        self.parts.len()
    }

    /// Length of a part in bytes.
    pub(crate) fn part_bytes(&self, part: usize) -> u64 {
        self.parts[part].length
    }

    /// A whole part, its checksum checked.
    ///
    /// # Errors
    /// [`FileError::Io`], [`FileError::Damaged`].
    pub(crate) fn read_part(&self, part: usize) -> Result<Vec<u8>, FileError> {
        let mut bytes = vec![0; self.parts[part].length as usize];
        self.read_at(part, 0, &mut bytes)?;
        if crc32fast::hash(&bytes) != self.parts[part].crc {
            return Err(FileError::Damaged {
                path: self.path.clone(),
                what: "a part changed",
            });
        }
        Ok(bytes)
    }

    /// Fills `into` with the bytes of a part from `start` on. The checksum covers whole parts, so it is not checked.
    ///
    /// # Errors
    /// [`FileError::Io`], also when the bytes asked for reach past the end of the part.
    pub(crate) fn read_at(
        &self,
        part: usize,
        start: u64,
        into: &mut [u8],
    ) -> Result<(), FileError> {
        let io = |source| FileError::Io {
            path: self.path.clone(),
            source,
        };
        let Part {
            start: base,
            length,
            ..
        } = self.parts[part];
        if start
            .checked_add(into.len() as u64)
            .is_none_or(|end| end > length)
        {
            return Err(io(io::ErrorKind::UnexpectedEof.into()));
        }
        read_exact_at(&self.file, into, base + start).map_err(io)
    }
}

/// Fills `into`, or `None` when the file ends before.
fn read_header(file: &mut File, into: &mut [u8]) -> io::Result<Option<()>> {
    match file.read_exact(into) {
        Ok(()) => Ok(Some(())),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(unix)]
fn read_exact_at(file: &File, into: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, into, at)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut into: &mut [u8], mut at: u64) -> io::Result<()> {
    while !into.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, into, at)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => {
                into = &mut into[read..];
                at += read as u64;
            }
        }
    }
    Ok(())
}

/// Writes all of `bytes` at `at`, without moving anything else.
#[cfg(unix)]
pub(crate) fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

/// Writes all of `bytes` at `at`, without moving anything else.
#[cfg(windows)]
pub(crate) fn write_at(file: &File, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_write(file, bytes, at)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            written => {
                bytes = &bytes[written..];
                at += written as u64;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
