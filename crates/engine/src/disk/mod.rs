//! Files outside of SQLite: parts files with checksums, directories that replace each other, the lock of the data
//! directory, and the interface to the disk that all of them use.

mod directories;
mod file_error;
mod held_directory;
mod interface;
mod lock;
mod open_file;
mod parts_file;
mod parts_writer;
mod real;
mod shared_parts_file;

pub(crate) use directories::{
    DROPPED, NEW, create_directories, create_directory, drop_directory, remove_if_exists,
    sync_parent,
};
pub use file_error::FileError;
pub(crate) use held_directory::HeldDirectory;
pub(crate) use interface::Disk;
pub(crate) use lock::DataLock;
pub use lock::LockError;
pub(crate) use open_file::OpenFile;
pub(crate) use parts_file::PartsFile;
pub(crate) use parts_writer::{Owner, TEMPORARY, write_parts_file};
pub(crate) use real::RealDisk;
pub(crate) use shared_parts_file::SharedPartsFile;
