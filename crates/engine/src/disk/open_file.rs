//! An open file.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// An open file and its path.
///
/// Searches read exact vectors from files, a row at a time, so reads go to the operating system without an indirection.
#[derive(Debug)]
pub(crate) struct OpenFile {
    file: File,
    path: PathBuf,
}

impl OpenFile {
    pub(super) fn new(file: File, path: &Path) -> Self {
        Self {
            file,
            path: path.to_owned(),
        }
    }

    pub(super) fn as_file(&self) -> &File {
        &self.file
    }

    /// The path that the file was opened by.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Its length in bytes.
    pub(crate) fn length(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// Reads the whole file from its current position on.
    pub(crate) fn read_to_end(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        (&self.file).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Fills `into` with the bytes at `offset`.
    ///
    /// # Errors
    /// [`io::ErrorKind::UnexpectedEof`] when the file ends before.
    #[cfg(unix)]
    pub(crate) fn read_exact_at(&self, into: &mut [u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.file, into, offset)
    }

    /// Fills `into` with the bytes at `offset`.
    ///
    /// # Errors
    /// [`io::ErrorKind::UnexpectedEof`] when the file ends before.
    #[cfg(windows)]
    pub(crate) fn read_exact_at(&self, mut into: &mut [u8], mut offset: u64) -> io::Result<()> {
        while !into.is_empty() {
            match std::os::windows::fs::FileExt::seek_read(&self.file, into, offset)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                read => {
                    into = &mut into[read..];
                    offset += read as u64;
                }
            }
        }
        Ok(())
    }

    #[cfg(unix)]
    pub(super) fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(&self.file, bytes, offset)
    }

    #[cfg(windows)]
    pub(super) fn write_all_at(&self, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
        while !bytes.is_empty() {
            match std::os::windows::fs::FileExt::seek_write(&self.file, bytes, offset)? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                written => {
                    bytes = &bytes[written..];
                    offset += written as u64;
                }
            }
        }
        Ok(())
    }

    /// Releases the lock on the file, if it holds one.
    pub(crate) fn unlock(&self) {
        // Closing the file releases the lock, too.
        let _ = self.file.unlock();
    }
}
