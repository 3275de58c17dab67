//! A disk for tests: its operations fail, stall, or are followed by a power cut.

mod fault;
mod unsynced;

pub(crate) use fault::{Fault, IO_ERROR, NO_SPACE, TOO_MANY_FILES, can_fail};

use std::fs::{self, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use parking_lot::{Condvar, Mutex, MutexGuard};
use tempfile::TempDir;

use crate::disk::{Disk, OpenFile, RealDisk};
use crate::disk_faults::faulty::fault::{
    CREATE_DIRECTORY, LIST, OPEN, OPEN_FOR_WRITING, REMOVE_DIRECTORY, SET_LENGTH, SYNC_DIRECTORY,
    WRITE, WRITE_AT,
};
use crate::disk_faults::faulty::unsynced::Unsynced;

/// The real disk below a directory, with faults.
#[derive(Debug)]
pub(crate) struct FaultyDisk {
    state: Mutex<State>,
    resumed: Condvar,
}

#[derive(Debug)]
struct State {
    fault: Option<Fault>,
    /// The names of the operations since the fault was set.
    operations: Vec<&'static str>,
    is_stalled: bool,
    /// Whether an operation waits for the end of a stall.
    is_waiting: bool,
    unsynced: Unsynced,
    /// Holds the files that were removed or replaced, because a power cut may restore them.
    removed: TempDir,
    next_removed: usize,
}

impl FaultyDisk {
    /// A disk without a fault. A power cut copies the state of `directory` to an image.
    pub(crate) fn new(directory: &Path) -> Self {
        let parent = directory.parent().expect("a directory in another one");
        Self {
            state: Mutex::new(State {
                fault: None,
                operations: Vec::new(),
                is_stalled: false,
                is_waiting: false,
                unsynced: Unsynced::new(directory),
                removed: tempfile::tempdir_in(parent).expect("a directory"),
                next_removed: 0,
            }),
            resumed: Condvar::new(),
        }
    }

    /// Sets or ends a fault.
    pub(crate) fn set(&self, fault: Option<Fault>) {
        let mut state = self.state.lock();
        state.operations.clear();
        state.fault = fault;
    }

    /// The names of the operations since the fault was set.
    pub(crate) fn operations(&self) -> Vec<&'static str> {
        self.state.lock().operations.clone()
    }

    /// Copies the directory without its unsynced changes to `image`.
    pub(crate) fn write_image(&self, image: &Path) {
        self.state.lock().unsynced.write_image(image);
    }

    /// Blocks every operation from the next one on.
    pub(crate) fn stall(&self) {
        self.state.lock().is_stalled = true;
    }

    /// Waits until an operation stalls.
    pub(crate) fn wait_for_stall(&self) {
        let mut state = self.state.lock();
        while !state.is_waiting {
            self.resumed.wait(&mut state);
        }
    }

    /// Ends a stall.
    pub(crate) fn resume(&self) {
        self.state.lock().is_stalled = false;
        self.resumed.notify_all();
    }

    /// Runs an operation, unless the fault makes it fail.
    fn run<T>(
        &self,
        name: &'static str,
        operation: impl FnOnce(&mut State) -> io::Result<T>,
    ) -> io::Result<T> {
        let mut state = self.begin(name)?;
        let result = operation(&mut state);
        state.end();
        result
    }

    /// Counts an operation and waits for the end of a stall. An error is that of the fault.
    fn begin(&self, name: &'static str) -> io::Result<MutexGuard<'_, State>> {
        let mut state = self.state.lock();
        while state.is_stalled {
            state.is_waiting = true;
            self.resumed.notify_all();
            self.resumed.wait(&mut state);
        }
        state.is_waiting = false;
        let now = state.operations.len();
        state.operations.push(name);
        match state.fault {
            Some(Fault::Error { at, code, lasting })
                if (now == at || lasting && now > at) && can_fail(name, code) =>
            {
                Err(io::Error::from_raw_os_error(code))
            }
            Some(Fault::PowerCut { after, .. }) if now > after => {
                Err(io::Error::from_raw_os_error(IO_ERROR))
            }
            _ => Ok(state),
        }
    }
}

impl State {
    /// Cuts the power if the operation that ends is the last one.
    fn end(&self) {
        if let Some(Fault::PowerCut { after, image }) = &self.fault
            && self.operations.len() == after + 1
        {
            self.unsynced.write_image(image);
        }
    }

    /// A path to which a removed file or directory is moved.
    fn removed_path(&mut self) -> PathBuf {
        self.next_removed += 1;
        self.removed.path().join(self.next_removed.to_string())
    }

    /// Moves a file or directory away instead of removing it.
    fn remove(&mut self, path: &Path) -> io::Result<()> {
        let kept = self.removed_path();
        fs::rename(path, &kept)?;
        self.unsynced.removed(path, &kept);
        Ok(())
    }

    fn note_creation(&mut self, path: &Path, existed: bool) {
        if !existed {
            self.unsynced.created(path);
        }
    }

    /// Leaves a part of the content of a file that could not be written, unless the power is off.
    fn leave_half(&mut self, path: &Path, content: &[&[u8]]) {
        let (existed, whole) = (path.exists(), content.concat());
        let is_on = !matches!(self.fault, Some(Fault::PowerCut { .. }));
        if is_on && fs::write(path, &whole[..whole.len() / 2]).is_ok() {
            self.note_creation(path, existed);
        }
    }

    /// Notes the content that a file has before it is changed.
    fn note_content(&mut self, file: &OpenFile) -> io::Result<()> {
        let mut content = vec![0; file.length()? as usize];
        file.read_exact_at(&mut content, 0)?;
        self.unsynced.changed(file.path(), content);
        Ok(())
    }
}

impl Disk for FaultyDisk {
    fn create_directory(&self, path: &Path) -> io::Result<()> {
        self.run(CREATE_DIRECTORY, |state| {
            let existed = path.exists();
            RealDisk.create_directory(path)?;
            state.note_creation(path, existed);
            Ok(())
        })
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<PathBuf>> {
        self.run(LIST, |_| RealDisk.list(directory))
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        self.run(SYNC_DIRECTORY, |state| {
            RealDisk.sync_directory(path)?;
            state.unsynced.synced_directory(path);
            Ok(())
        })
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        self.run("exists", |_| RealDisk.exists(path))
    }

    fn length(&self, path: &Path) -> io::Result<u64> {
        self.run("length", |_| RealDisk.length(path))
    }

    fn open(&self, path: &Path) -> io::Result<OpenFile> {
        self.run(OPEN, |_| RealDisk.open(path))
    }

    fn open_for_writing(&self, path: &Path) -> io::Result<OpenFile> {
        self.run(OPEN_FOR_WRITING, |state| {
            let existed = path.exists();
            let file = RealDisk.open_for_writing(path)?;
            state.note_creation(path, existed);
            Ok(file)
        })
    }

    fn write_file(&self, path: &Path, content: &[&[u8]]) -> io::Result<()> {
        let written = self.run(WRITE, |state| {
            let existed = path.exists();
            RealDisk.write_file(path, content)?;
            state.note_creation(path, existed);
            state.unsynced.synced_file(path);
            Ok(())
        });
        written.inspect_err(|_| self.state.lock().leave_half(path, content))
    }

    fn write_at(&self, file: &OpenFile, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.run(WRITE_AT, |state| {
            state.note_content(file)?;
            RealDisk.write_at(file, bytes, offset)
        })
    }

    fn set_length(&self, file: &OpenFile, length: u64) -> io::Result<()> {
        self.run(SET_LENGTH, |state| {
            state.note_content(file)?;
            RealDisk.set_length(file, length)
        })
    }

    fn sync(&self, file: &OpenFile) -> io::Result<()> {
        self.run("sync", |state| {
            RealDisk.sync(file)?;
            state.unsynced.synced_file(file.path());
            Ok(())
        })
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.run("rename", |state| {
            let replaced = to.is_file().then(|| state.removed_path());
            if let Some(replaced) = &replaced {
                fs::hard_link(to, replaced)?;
            }
            RealDisk.rename(from, to)?;
            state.unsynced.renamed(from, to, replaced);
            Ok(())
        })
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.run("remove", |state| state.remove(path))
    }

    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        self.run(REMOVE_DIRECTORY, |state| {
            fs::read_dir(path)?;
            state.remove(path)
        })
    }

    fn lock(&self, file: &OpenFile) -> Result<(), TryLockError> {
        drop(self.begin("lock").map_err(TryLockError::Error)?);
        RealDisk.lock(file)
    }
}

mod tests;
