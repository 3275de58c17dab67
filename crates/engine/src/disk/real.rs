//! The disk of the operating system.

use std::fs::{self, DirBuilder, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::disk::interface::Disk;
use crate::disk::open_file::OpenFile;

/// The disk of the operating system.
#[derive(Debug)]
pub(crate) struct RealDisk;

impl Disk for RealDisk {
    fn create_directory(&self, path: &Path) -> io::Result<()> {
        let mut builder = DirBuilder::new();
        // Makes an existing directory a success.
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(path)
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<PathBuf>> {
        fs::read_dir(directory)?
            .map(|entry| Ok(entry?.path()))
            .collect()
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        // Windows has no such call and needs none.
        if cfg!(unix) {
            File::open(path)?.sync_all()
        } else {
            Ok(())
        }
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        path.try_exists()
    }

    fn length(&self, path: &Path) -> io::Result<u64> {
        Ok(fs::metadata(path)?.len())
    }

    fn open(&self, path: &Path) -> io::Result<OpenFile> {
        Ok(OpenFile::new(File::open(path)?, path))
    }

    fn open_for_writing(&self, path: &Path) -> io::Result<OpenFile> {
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)?;
        Ok(OpenFile::new(file, path))
    }

    fn write_file(&self, path: &Path, content: &[&[u8]]) -> io::Result<()> {
        let mut file = BufWriter::new(File::create(path)?);
        for slice in content {
            file.write_all(slice)?;
        }
        file.into_inner()?.sync_all()
    }

    fn write_at(&self, file: &OpenFile, bytes: &[u8], offset: u64) -> io::Result<()> {
        file.write_all_at(bytes, offset)
    }

    fn set_length(&self, file: &OpenFile, length: u64) -> io::Result<()> {
        file.as_file().set_len(length)
    }

    fn sync(&self, file: &OpenFile) -> io::Result<()> {
        file.as_file().sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir_all(path)
    }
}
