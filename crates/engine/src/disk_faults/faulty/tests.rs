//! A power cut loses what was not synced, and nothing else.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::FaultyDisk;
use crate::disk::Disk;

struct Cut {
    outer: TempDir,
    disk: FaultyDisk,
}

impl Cut {
    /// A directory `data` with the synced file `kept`, which contains "old".
    fn new() -> Self {
        let outer = tempfile::tempdir().expect("a directory");
        let data = outer.path().join("data");
        fs::create_dir(&data).expect("created");
        fs::write(data.join("kept"), "old").expect("written");
        let disk = FaultyDisk::new(&data);
        Self { outer, disk }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.outer.path().join("data").join(name)
    }

    fn sync(&self) {
        self.disk.sync_directory(&self.path("")).expect("synced");
    }

    /// The names and contents of the files after a power cut.
    fn left(&self) -> Vec<(String, String)> {
        let image = self.outer.path().join("image");
        self.disk.write_image(&image);
        let mut left = files(&image);
        left.sort();
        left
    }
}

fn files(directory: &Path) -> Vec<(String, String)> {
    let entries = fs::read_dir(directory).expect("listed");
    let file = |path: &Path| {
        let name = path.file_name().expect("a name").to_string_lossy();
        (name.into_owned(), fs::read_to_string(path).expect("text"))
    };
    entries
        .map(|entry| file(&entry.expect("an entry").path()))
        .collect()
}

fn expected(files: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |&(name, content): &(&str, &str)| (name.to_owned(), content.to_owned());
    files.iter().map(owned).collect()
}

#[test]
fn content_that_is_not_synced_is_lost() {
    for is_synced in [false, true] {
        let cut = Cut::new();
        let file = cut
            .disk
            .open_for_writing(&cut.path("kept"))
            .expect("opened");
        cut.disk.write_at(&file, b"new", 0).expect("written");
        if is_synced {
            cut.disk.sync(&file).expect("synced");
        }
        let content = if is_synced { "new" } else { "old" };
        assert_eq!(cut.left(), expected(&[("kept", content)]));
    }
}

#[test]
fn a_name_that_is_not_synced_is_lost() {
    for is_synced in [false, true] {
        let cut = Cut::new();
        cut.disk
            .write_file(&cut.path("made"), &[b"new"])
            .expect("written");
        if is_synced {
            cut.sync();
        }
        let all = expected(&[("kept", "old"), ("made", "new")]);
        assert_eq!(cut.left(), all[..1 + usize::from(is_synced)]);
    }
}

#[test]
fn a_rename_that_is_not_synced_is_undone() {
    for is_synced in [false, true] {
        let cut = Cut::new();
        cut.disk
            .write_file(&cut.path("made"), &[b"new"])
            .expect("written");
        cut.sync();
        cut.disk
            .rename(&cut.path("made"), &cut.path("kept"))
            .expect("renamed");
        if is_synced {
            cut.sync();
        }
        let left = if is_synced {
            expected(&[("kept", "new")])
        } else {
            expected(&[("kept", "old"), ("made", "new")])
        };
        assert_eq!(cut.left(), left);
    }
}

#[test]
fn a_removal_that_is_not_synced_is_undone() {
    for is_synced in [false, true] {
        let cut = Cut::new();
        cut.disk.remove_file(&cut.path("kept")).expect("removed");
        if is_synced {
            cut.sync();
        }
        let all = expected(&[("kept", "old")]);
        assert_eq!(cut.left(), all[..usize::from(!is_synced)]);
    }
}
