//! A response: a page of results, or a map of them.

use crate::error::Error;
use crate::runtime::StopCheck;
use crate::search::page::{PageContent, PagePosition};

impl<P: PagePosition> PageContent<'_, P> {
    /// Writes the response that the request asks for.
    ///
    /// # Errors
    /// [`Error::Stopped`]; the error of a vector that cannot be read.
    pub(crate) fn write(&self, stop_check: &StopCheck<'_>) -> Result<Vec<u8>, Error> {
        if self.request.map {
            self.write_map(stop_check)
        } else {
            self.write_page(stop_check)
        }
    }
}
