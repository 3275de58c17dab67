//! Files outside of SQLite: checked files of parts, directories that change places, and the lock of the data directory.

mod directory_swap;
mod lock;
mod parts_file;

pub(crate) use directory_swap::{
    DROPPED, NEW, NEXT, create_directory, drop_directory, finish_swaps, next_path, remove_dropped,
    remove_if_there, swap_directories,
};
pub(crate) use lock::DataLock;
pub use lock::LockError;
pub use parts_file::FileError;
pub(crate) use parts_file::{
    Owner, PartsFile, TEMPORARY, create_directories, sync_directory, write_at, write_once,
};
