//! A disk that stalls, fails and records its operations: a child process with `faults.c` between the engine and libc.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::child;

const FAULTS: &str = "FAULTS";

/// Runs the ignored test `test` of this binary with a disk that fails on demand.
pub(crate) fn run_with_faults(test: &str) {
    let directory = tempfile::tempdir().expect("a directory");
    let source = directory.path().join("faults.c");
    let library = directory.path().join("faults.so");
    fs::write(&source, include_str!("../../../src/store/tests/faults.c")).expect("written");
    // SQLite is built from C, so a C compiler is installed.
    let compiled = Command::new(std::env::var_os("CC").unwrap_or("cc".into()))
        .args(["-shared", "-fPIC", "-o"])
        .args([&library, &source])
        .arg("-ldl")
        .status();
    assert!(compiled.expect("a C compiler runs").success());
    let output = child(test)
        .env("LD_PRELOAD", &library)
        .env(FAULTS, directory.path())
        .stderr(Stdio::piped())
        .output()
        .expect("the child runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// The directory of a child process. The files in it switch faults on.
pub(crate) struct Faults {
    pub(crate) directory: PathBuf,
}

impl Faults {
    pub(crate) fn of_child() -> Self {
        let directory = std::env::var_os(FAULTS).expect("a run of `run_with_faults`");
        Self {
            directory: directory.into(),
        }
    }

    /// Switches a fault on: `sync` and `space` make calls fail, `stall` blocks syncs, `record` writes the journal.
    pub(crate) fn begin(&self, fault: &str) {
        File::create(self.directory.join(fault)).expect("made");
    }

    pub(crate) fn end(&self, fault: &str) {
        fs::remove_file(self.directory.join(fault)).expect("removed");
    }

    /// Runs `body` while a fault is switched on.
    pub(crate) fn during<T>(&self, fault: &str, body: impl FnOnce() -> T) -> T {
        self.begin(fault);
        let value = body();
        self.end(fault);
        value
    }

    /// Runs `body` with at most `count` open files.
    pub(crate) fn with_descriptors<T>(&self, count: usize, body: impl FnOnce() -> T) -> T {
        symlink(count.to_string(), self.directory.join("descriptors")).expect("made");
        let value = body();
        self.end("descriptors");
        value
    }

    /// The directory operations while `body` ran: `sync PATH`, `mkdir PATH`, `list PATH`, `rename FROM TO`.
    pub(crate) fn recorded(&self, body: impl FnOnce()) -> Vec<Vec<String>> {
        let journal = self.directory.join("journal");
        let _ = fs::remove_file(&journal);
        self.during("record", body);
        let lines = fs::read_to_string(journal).unwrap_or_default();
        let words = |line: &str| line.split(' ').map(str::to_owned).collect();
        lines.lines().map(words).collect()
    }
}

/// Asserts that the parent directory is synced after each create and rename.
pub(crate) fn assert_names_are_synced(journal: &[Vec<String>], what: &str) {
    for (at, line) in journal.iter().enumerate() {
        let named = match line[0].as_str() {
            "rename" => &line[1..],
            "mkdir" => &line[1..2],
            _ => continue,
        };
        for name in named {
            let parent = Path::new(name).parent().expect("a parent");
            let synced = |later: &Vec<String>| later[0] == "sync" && Path::new(&later[1]) == parent;
            assert!(
                journal[at..].iter().any(synced),
                "{what}: {line:?} is not synced in {journal:#?}"
            );
        }
    }
}
