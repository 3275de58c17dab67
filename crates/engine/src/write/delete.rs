//! Which records a deletion takes.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use serde_json::Value;

use crate::columns::Mask;
use crate::error::Error;
use crate::filter::{BoundFilter, Filter, RequestReader};
use crate::limits::Limits;
use crate::record::{RecordId, RecordRow, RecordUuid, TimeRange, Variant, parse_integer_id};
use crate::runtime::{StopCheck, StopFlag, Stopped};
use crate::snapshot::{Block, Published, PublishedCell, Snapshot};

/// Records to delete: by identity, or by filter and time range. A forced filter narrows both.
#[derive(Clone, Debug)]
pub(crate) struct Deletion {
    ids: Option<Vec<RecordRef>>,
    filter: Option<Filter>,
    time_range: TimeRange,
}

/// A record named by either of its identities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordRef {
    Id(RecordId),
    Uuid(RecordUuid),
}

impl RecordRef {
    /// Reads an identity as it stands in a path: an integer or a UUID.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let uuid = || RecordUuid::parse(text).map(Self::Uuid);
        parse_integer_id(text)
            .map(|id| Self::Id(RecordId(id)))
            .or_else(uuid)
    }

    pub(crate) fn find(self, published: &Published) -> Option<RecordRow> {
        match self {
            Self::Id(id) => published.index.find_id(&published.snapshot, id),
            Self::Uuid(uuid) => published.index.find_uuid(&published.snapshot, uuid),
        }
    }
}

impl Deletion {
    /// Reads a deletion from JSON: `ids`, or `filter` and `time_range`; and `forced_filter`.
    ///
    /// # Errors
    /// [`Error::Invalid`] with a pointer for whatever does not fit.
    pub(crate) fn parse(json: &str, limits: &Limits) -> Result<Self, Error> {
        let request = RequestReader::new(json, limits)?;
        let ids = match request.get("ids") {
            None => None,
            Some(Value::Array(ids)) => Some(
                ids.iter()
                    .enumerate()
                    .map(read_id)
                    .collect::<Result<Vec<_>, _>>()?,
            ),
            Some(_) => {
                return Err(Error::invalid(
                    "invalid_request",
                    "/ids",
                    "must be an array",
                ));
            }
        };
        let chosen = request.get("filter").is_some() || request.get("time_range").is_some();
        if ids.is_some() == chosen {
            return Err(Error::invalid(
                "invalid_request",
                "",
                "give either ids, or a filter or time_range or both",
            ));
        }
        Ok(Self {
            ids,
            filter: request.filter(Variant::B)?,
            time_range: request.time_range()?,
        })
    }

    /// The records that may be meant, whatever the filter says of them: a mask for each block of `snapshot`.
    ///
    /// `named` are the rows of the ids, where ids are given.
    fn candidates(&self, snapshot: &Snapshot, named: Option<&[RecordRow]>) -> Vec<Mask> {
        let TimeRange { start, end } = self.time_range;
        let mut masks: Vec<Mask> = match named {
            None => {
                let blocks = snapshot.blocks.iter();
                blocks.map(|block| (*block.alive).clone()).collect()
            }
            Some(rows) => {
                let mut masks = vec![Mask::empty(); snapshot.blocks.len()];
                for (at, slot) in rows.iter().filter_map(|&row| snapshot.locate(row)) {
                    masks[at].set(slot);
                }
                masks
            }
        };
        if self.time_range != TimeRange::ALWAYS {
            for (block, mask) in snapshot.blocks.iter().zip(&mut masks) {
                *mask = block.synced.mask_between(start, end, mask);
            }
        }
        masks
    }
}

/// The records of a deletion as they were found in a snapshot, with which the writer need not test them again.
#[derive(Clone)]
pub(crate) struct Found {
    deletion: Arc<Deletion>,
    stop: StopFlag,
    snapshot: Arc<Snapshot>,
    /// Candidates of the snapshot that the filter lets through, ascending.
    rows: Vec<RecordRow>,
}

/// What became of a deletion that the writer was asked for.
pub(crate) enum Deleted {
    /// So many records are deleted.
    Records(usize),
    /// Nothing is deleted: so much was written since the records were found that testing it would hold up the writer.
    Outdated(Found),
}

/// What is left to be tested to know the records of a deletion in a newer snapshot.
pub(crate) struct Finding {
    found: Found,
    snapshot: Arc<Snapshot>,
    filter: Option<BoundFilter>,
    /// For each block of the snapshot.
    candidates: Vec<Mask>,
    untested: Vec<Mask>,
}

impl Found {
    /// Nothing is found or tested yet.
    pub(crate) fn nothing(deletion: Deletion, stop: StopFlag) -> Self {
        Self {
            deletion: Arc::new(deletion),
            stop,
            snapshot: Arc::new(Snapshot::empty()),
            rows: Vec::new(),
        }
    }

    /// Whether the writer finds the records as fast as anybody.
    pub(crate) fn needs_no_test(&self) -> bool {
        self.deletion.filter.is_none()
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Relaxed)
    }

    /// Binds the deletion to the newest snapshot.
    pub(crate) fn bind(self, published: &PublishedCell) -> Finding {
        let (snapshot, named) = self.look(&published.read());
        self.bind_to(snapshot, named)
    }

    /// The records, in the snapshot that they were found in last.
    pub(crate) fn records(&self) -> impl Iterator<Item = (RecordId, RecordRow)> {
        self.rows.iter().map(|&row| {
            let (block, slot) = self.snapshot.at(row);
            (block.id(slot), row)
        })
    }

    fn look(&self, published: &Published) -> (Arc<Snapshot>, Option<Vec<RecordRow>>) {
        let ids = self.deletion.ids.as_ref();
        let named = ids.map(|ids| ids.iter().filter_map(|id| id.find(published)).collect());
        (Arc::clone(&published.snapshot), named)
    }

    fn bind_to(mut self, snapshot: Arc<Snapshot>, named: Option<Vec<RecordRow>>) -> Finding {
        if self.snapshot.numbering != snapshot.numbering {
            // The rows that were found name other records by now.
            self.snapshot = Arc::new(Snapshot::empty());
            self.rows.clear();
        }
        let candidates = self.deletion.candidates(&snapshot, named.as_deref());
        let mut untested = candidates.clone();
        for (block, untested) in snapshot.blocks.iter().zip(&mut untested) {
            let tested = untested.iter().filter(|&slot| self.tested(block, slot));
            let tested: Mask = tested.collect();
            untested.and_not(&tested);
        }
        let is_new = untested.iter().any(|untested| !untested.is_empty());
        let filter = self.deletion.filter.as_ref().filter(|_| is_new);
        Finding {
            filter: filter.map(|filter| filter.bind(&snapshot.names)),
            found: self,
            snapshot,
            candidates,
            untested,
        }
    }

    /// Whether a living record was a candidate before. Its row tells: another content has another row.
    fn tested(&self, block: &Block, slot: usize) -> bool {
        let row = block.row(slot);
        if self.deletion.time_range == TimeRange::ALWAYS {
            return row < self.snapshot.next_row();
        }
        let TimeRange { start, end } = self.deletion.time_range;
        self.snapshot.locate(row).is_some_and(|(at, slot)| {
            (start..=end).contains(&self.snapshot.blocks[at].synced.get(slot))
        })
    }
}

impl Finding {
    /// Rough nanoseconds that it takes.
    pub(crate) fn cost(&self) -> f64 {
        let Some(filter) = &self.filter else {
            return 0.0;
        };
        let parts = self.snapshot.blocks.iter().zip(&self.untested);
        parts
            .filter(|(_, untested)| !untested.is_empty())
            .map(|(block, untested)| {
                let share = untested.count() as f64 / block.len() as f64;
                filter.cost(&block.body.columns) * share
            })
            .sum()
    }

    /// Tests what is untested.
    ///
    /// # Errors
    /// [`Stopped`].
    pub(crate) fn run(self) -> Result<Found, Stopped> {
        let Self {
            mut found,
            snapshot,
            filter,
            candidates,
            untested,
        } = self;
        let stop = Arc::clone(&found.stop);
        let stop_check = StopCheck::new(&stop);
        let mut rows = Vec::new();
        let mut known = found.rows.iter().peekable();
        let parts = snapshot.blocks.iter().zip(&candidates).zip(&untested);
        for (at, ((block, candidates), untested)) in parts.enumerate() {
            let mut passing = untested.clone();
            if let Some(filter) = filter.as_ref().filter(|_| !untested.is_empty()) {
                passing = filter.mask(&block.body.columns, untested, &stop_check)?;
            }
            while let Some(row) = known.next_if(|&&row| row < block.row(block.len())) {
                // The row of a record that is gone may lie in a gap between blocks.
                if let Some((_, slot)) = snapshot.locate(*row).filter(|&(found, _)| found == at)
                    && candidates.get(slot)
                {
                    passing.set(slot);
                }
            }
            rows.extend(passing.iter().map(|slot| block.row(slot)));
        }
        found.rows = rows;
        found.snapshot = snapshot;
        Ok(found)
    }

    /// What was found before.
    pub(crate) fn give_up(self) -> Found {
        self.found
    }
}

fn read_id((at, id): (usize, &Value)) -> Result<RecordRef, Error> {
    let read = match id {
        Value::Number(_) => id
            .as_u64()
            .and_then(|id| parse_integer_id(&id.to_string()))
            .map(|id| RecordRef::Id(RecordId(id))),
        Value::String(text) => RecordRef::parse(text),
        _ => None,
    };
    read.ok_or_else(|| {
        Error::invalid(
            "invalid_request",
            format!("/ids/{at}"),
            "must be an integer id or a UUID",
        )
    })
}
