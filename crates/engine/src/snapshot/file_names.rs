//! The names of index files.

use std::path::{Path, PathBuf};

use crate::snapshot::file_id::FileId;

/// Name of the list of a saved snapshot.
pub(super) const SNAPSHOT: &str = "snapshot";

/// Name of the list of an approximate index, which is saved in the same directory.
pub(crate) const GRAPH_LIST: &str = "approximate";

/// Kind of a file with the immutable part of a block and its exact vectors.
pub(super) const ROWS: &str = "rows";

/// Kind of a file with the codes of a block.
pub(super) const CODES: &str = "codes";

/// Kind of a file with a basis.
pub(super) const BASIS: &str = "basis";

/// Kind of a file with a graph.
pub(crate) const GRAPH: &str = "graph";

/// The path of an index file.
pub(crate) fn index_file_path(directory: &Path, file_id: FileId, kind: &str) -> PathBuf {
    directory.join(format!("{}.{kind}", file_id.0))
}
