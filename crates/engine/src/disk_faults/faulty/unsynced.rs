//! The changes of a directory that a power cut would undo.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// The changes since the last sync of the directory or file that contains each change.
#[derive(Debug)]
pub(super) struct Unsynced {
    directory: PathBuf,
    /// The changes in order. Their paths are those after all of the changes.
    changes: Vec<Change>,
}

#[derive(Debug, Clone)]
enum Change {
    Created {
        path: PathBuf,
    },
    Renamed {
        from: PathBuf,
        to: PathBuf,
        replaced: Option<PathBuf>,
    },
    Removed {
        path: PathBuf,
        /// Where the file or directory is now.
        kept: PathBuf,
    },
    Content {
        path: PathBuf,
        before: Vec<u8>,
    },
}

impl Unsynced {
    pub(super) fn new(directory: &Path) -> Self {
        Self {
            directory: directory.to_owned(),
            changes: Vec::new(),
        }
    }

    pub(super) fn created(&mut self, path: &Path) {
        let path = path.to_owned();
        self.changes.push(Change::Created { path });
    }

    pub(super) fn renamed(&mut self, from: &Path, to: &Path, replaced: Option<PathBuf>) {
        move_paths(&mut self.changes, from, to);
        let (from, to) = (from.to_owned(), to.to_owned());
        self.changes.push(Change::Renamed { from, to, replaced });
    }

    pub(super) fn removed(&mut self, path: &Path, kept: &Path) {
        let (path, kept) = (path.to_owned(), kept.to_owned());
        self.changes.push(Change::Removed { path, kept });
    }

    pub(super) fn changed(&mut self, path: &Path, before: Vec<u8>) {
        let path = path.to_owned();
        self.changes.push(Change::Content { path, before });
    }

    pub(super) fn synced_file(&mut self, synced: &Path) {
        self.changes
            .retain(|change| !matches!(change, Change::Content { path, .. } if path == synced));
    }

    pub(super) fn synced_directory(&mut self, synced: &Path) {
        self.changes.retain(|change| match change {
            Change::Content { .. } => true,
            Change::Created { path } | Change::Removed { path, .. } => {
                path.parent() != Some(synced)
            }
            Change::Renamed { to, .. } => to.parent() != Some(synced),
        });
    }

    /// Copies the directory to `image` and undoes the changes there.
    pub(super) fn write_image(&self, image: &Path) {
        copy(&self.directory, image).expect("copied");
        let mut changes = self.changes.clone();
        while let Some(change) = changes.pop() {
            // A change inside a directory that does not survive the power cut needs no undoing.
            let _ = self.undo(change, &mut changes, image);
        }
    }

    fn undo(&self, change: Change, earlier: &mut [Change], image: &Path) -> io::Result<()> {
        let in_image = |path: &Path| {
            let inside = path.strip_prefix(&self.directory);
            inside.map_or_else(|_| image.join("outside"), |inside| image.join(inside))
        };
        match change {
            Change::Created { path } => {
                let path = in_image(&path);
                if path.is_dir() {
                    fs::remove_dir_all(path)
                } else {
                    fs::remove_file(path)
                }
            }
            Change::Renamed { from, to, replaced } => {
                move_paths(earlier, &to, &from);
                fs::rename(in_image(&to), in_image(&from))?;
                replaced.map_or(Ok(()), |replaced| copy(&replaced, &in_image(&to)))
            }
            Change::Removed { path, kept } => copy(&kept, &in_image(&path)),
            Change::Content { path, before } => fs::write(in_image(&path), before),
        }
    }
}

/// Updates the paths of changes for a rename of `from` to `to`.
fn move_paths(changes: &mut [Change], from: &Path, to: &Path) {
    let move_path = |path: &mut PathBuf| {
        if let Ok(inside) = path.strip_prefix(from) {
            *path = to.components().chain(inside.components()).collect();
        }
    };
    // The names in a rename or a removal do not change, because changes are undone in reverse order.
    let move_inside = |path: &mut PathBuf| {
        if path != from {
            move_path(path);
        }
    };
    for change in changes {
        match change {
            Change::Created { path } | Change::Content { path, .. } => move_path(path),
            Change::Removed { path, .. } => move_inside(path),
            Change::Renamed { from, to, .. } => {
                move_inside(from);
                move_inside(to);
            }
        }
    }
}

/// Copies a file, or a directory with everything in it.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if !from.is_dir() {
        return fs::copy(from, to).map(drop);
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        match copy(&entry.path(), &to.join(entry.file_name())) {
            // SQLite may remove its files during the copy.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            copied => copied?,
        }
    }
    Ok(())
}
