//! The rules for the records of one database.

use parking_lot::Mutex;

use crate::columns::ColumnNames;
use crate::error::Error;
use crate::external::row::{ExternalRow, snapshot_of};
use crate::facets::{Facet, FacetCounter};
use crate::limits::Limits;
use crate::record::UuidMaker;
use crate::runtime::StopCheck;
use crate::settings::Settings;

/// The rules for the records of one database with certain settings.
pub struct ExternalRules {
    pub(super) id: String,
    pub(super) epoch: [u8; 16],
    pub(super) settings: Settings,
    pub(super) limits: Limits,
    pub(super) uuids: Mutex<UuidMaker>,
}

impl ExternalRules {
    /// Rules for a database. `epoch` identifies it among all that had its id, in 32 hexadecimal digits; `settings` is
    /// JSON.
    ///
    /// # Errors
    /// [`Error::Invalid`] for settings that are not valid.
    pub fn new(id: &str, epoch: &str, settings: &str, limits: Limits) -> Result<Self, Error> {
        Ok(Self {
            id: id.to_owned(),
            epoch: u128::from_str_radix(epoch, 16)
                .map_err(|_| Error::internal("an epoch has 32 hexadecimal digits"))?
                .to_be_bytes(),
            settings: Settings::parse(settings)?,
            limits,
            uuids: Mutex::default(),
        })
    }
}

/// Counts the matches of a request by its facets.
pub struct ExternalFacets {
    names: ColumnNames,
    counter: FacetCounter,
    max_bytes: usize,
}

impl ExternalFacets {
    pub(super) fn new(facets: &[Facet], max_bytes: usize) -> Self {
        let mut names = ColumnNames::default();
        for facet in facets {
            if let Facet::Values { column, .. } | Facet::Histogram { column, .. } = facet {
                names.insert(column);
            }
        }
        Self {
            counter: FacetCounter::bind(facets, &names),
            names,
            max_bytes,
        }
    }

    /// The columns whose values the rows must have.
    pub fn columns(&self) -> Vec<String> {
        let names = self.names.iter();
        names.map(|(_, name)| name.to_owned()).collect()
    }

    /// Counts some of the matches: each row stands for as many as `counts` says. The data of a row needs no more than
    /// [`Self::columns`].
    ///
    /// # Errors
    /// [`Error::Internal`] for damaged data, or when the numbers of rows and counts differ; [`Error::Invalid`],
    /// [`Error::Busy`] when the counts take too much memory.
    pub fn add(&self, rows: &[ExternalRow], counts: &[u32]) -> Result<(), Error> {
        if rows.len() != counts.len() {
            return Err(Error::internal("each row needs a count"));
        }
        // The counts keep the texts of the rows.
        let bytes = rows.iter().map(|row| row.data.len()).sum();
        self.counter.keep_bytes(bytes)?;
        let snapshot = snapshot_of(rows, self.names.clone(), 0)?;
        let mut counts = counts;
        for block in &snapshot.blocks {
            let (own, rest) = counts.split_at(block.len());
            self.counter.count_many(block, own)?;
            counts = rest;
        }
        Ok(())
    }

    /// The member `facets` of the response, JSON.
    ///
    /// # Errors
    /// [`Error::Invalid`] when a facet has more intervals, or longer texts, than a response holds.
    pub fn finish(&self) -> Result<Vec<u8>, Error> {
        self.counter.write(self.max_bytes, &StopCheck::never())
    }
}
