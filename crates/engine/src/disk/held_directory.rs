//! A directory that another process may replace.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// A directory with one file in it, distinguished from others that take their paths later.
#[derive(Debug)]
pub(crate) struct HeldDirectory {
    path: PathBuf,
    file: PathBuf,
    identities: [Identity; 2],
    /// While the directory is open, no other one gets its inode number.
    #[cfg(unix)]
    _open: fs::File,
}

#[cfg(unix)]
type Identity = (u64, u64);

#[cfg(not(unix))]
type Identity = std::time::SystemTime;

#[cfg(unix)]
fn identity(metadata: &Metadata) -> io::Result<Identity> {
    use std::os::unix::fs::MetadataExt;
    Ok((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(metadata: &Metadata) -> io::Result<Identity> {
    metadata.created()
}

impl HeldDirectory {
    /// Holds the directory at `path` with its `file`. The file is not opened: closing it would release the locks of SQLite.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn hold(path: &Path, file: &Path) -> io::Result<Self> {
        #[cfg(unix)]
        let open = fs::File::open(path)?;
        let held = Self {
            path: path.to_owned(),
            file: file.to_owned(),
            identities: identities(path, file)?,
            #[cfg(unix)]
            _open: open,
        };
        // Another directory may have taken its path meanwhile.
        #[cfg(unix)]
        if identity(&held._open.metadata()?)? != held.identities[0] {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(held)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the directory and the file still have their paths.
    pub(crate) fn is_in_place(&self) -> bool {
        identities(&self.path, &self.file).is_ok_and(|there| there == self.identities)
    }
}

fn identities(path: &Path, file: &Path) -> io::Result<[Identity; 2]> {
    let of = |path| fs::metadata(path).and_then(|metadata| identity(&metadata));
    Ok([of(path)?, of(file)?])
}
