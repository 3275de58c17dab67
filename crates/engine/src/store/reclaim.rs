//! Returns the pages of deleted records to the file system, a few at a time.

use crate::store::error::StoreError;
use crate::store::schema::{INCREMENTAL, PAGE_BYTES};
use crate::store::writer::Store;

/// Pages of one step: 4 MiB, so that a write waits for a step only briefly.
const STEP_PAGES: u64 = 4 * 1024 * 1024 / PAGE_BYTES;

/// Free pages below which a file is left as it is: the next writes use them.
const MIN_FREE_PAGES: u64 = STEP_PAGES;

/// Free pages are returned once they are more than one in this many of all pages.
const MIN_FREE_PART: u64 = 8;

impl Store {
    /// Whether enough pages are free to return them to the file system.
    ///
    /// # Errors
    /// SQLite's.
    pub(crate) fn has_space_to_reclaim(&mut self) -> Result<bool, StoreError> {
        let free = self.free_pages()?;
        Ok(free >= MIN_FREE_PAGES
            && free >= self.pragma("page_count")? / MIN_FREE_PART
            && self.pragma("auto_vacuum")? == INCREMENTAL.cast_unsigned())
    }

    /// Returns up to 4 MiB of free pages to the file system. The result is whether pages were returned and more are left.
    /// The file itself becomes shorter with the next [`Store::checkpoint`].
    ///
    /// # Errors
    /// As [`Store::commit`].
    pub(crate) fn reclaim(&mut self) -> Result<bool, StoreError> {
        let before = self.free_pages()?;
        self.write(|transaction| {
            // Each row is one returned page: the statement runs only as far as its rows are read.
            let mut statement =
                transaction.prepare(&format!("PRAGMA incremental_vacuum({STEP_PAGES})"))?;
            let mut rows = statement.query([])?;
            while rows.next()?.is_some() {}
            Ok(())
        })?;
        let after = self.free_pages()?;
        Ok(after < before && after > 0)
    }

    fn free_pages(&mut self) -> Result<u64, StoreError> {
        self.pragma("freelist_count")
    }

    fn pragma(&mut self, name: &str) -> Result<u64, StoreError> {
        let value = self
            .connection()?
            .pragma_query_value(None, name, |row| row.get::<_, i64>(0))?;
        Ok(value.cast_unsigned())
    }
}
