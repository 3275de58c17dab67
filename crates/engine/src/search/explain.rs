//! What an answer tells of itself when the request asks to explain.

use std::time::Duration;

use serde_json::{Value, json};

use crate::columns::ColumnNames;
use crate::error::Error;
use crate::filter::{BoundFilter, Filter, RequestReader};
use crate::record::Variant;
use crate::runtime::{StopCheck, Stopped};
use crate::snapshot::{Block, Snapshot};

/// The filters of a request to be explained, the caller's own apart from the key's: of the latter
/// nothing may show, not even that there is one.
#[derive(Clone, Debug)]
pub(crate) struct Explain {
    own: Option<Filter>,
    forced: Option<Filter>,
}

/// An [`Explain`] bound to a snapshot.
#[derive(Debug)]
pub(crate) struct BoundExplain {
    own: Option<BoundFilter>,
    forced: Option<BoundFilter>,
}

impl Explain {
    /// What `explain` asks for; `None` where it does not.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a filter that does not parse.
    pub(crate) fn parse(request: &RequestReader, variant: Variant) -> Result<Option<Self>, Error> {
        if !request.flag("explain")? {
            return Ok(None);
        }
        let own = request.filter_of("filter", variant)?;
        Ok(Some(Self {
            own,
            forced: request.filter_of("forced_filter", variant)?,
        }))
    }

    /// Whether some records must not show.
    pub(crate) fn is_scoped(&self) -> bool {
        self.forced.is_some()
    }

    pub(crate) fn bind(&self, names: &ColumnNames) -> BoundExplain {
        let bind = |filter: &Option<Filter>| filter.as_ref().map(|filter| filter.bind(names));
        BoundExplain {
            own: bind(&self.own),
            forced: bind(&self.forced),
        }
    }
}

impl BoundExplain {
    /// Whether the caller gave a filter.
    pub(crate) fn is_filtered(&self) -> bool {
        self.own.is_some()
    }

    /// Whether some records must not show.
    pub(crate) fn is_scoped(&self) -> bool {
        self.forced.is_some()
    }

    /// Records of a snapshot that exist for the caller.
    ///
    /// # Errors
    /// [`Stopped`].
    pub(crate) fn records(
        &self,
        snapshot: &Snapshot,
        stop_check: &StopCheck<'_>,
    ) -> Result<usize, Stopped> {
        let Some(forced) = &self.forced else {
            return Ok(snapshot.records());
        };
        let mut records = 0;
        for block in &snapshot.blocks {
            let seen = forced.mask(&block.body.columns, &block.alive, stop_check)?;
            records += seen.count();
        }
        Ok(records)
    }

    /// Appends why one result is one: `{"filter":…}` with the outcome of each of the caller's rules.
    ///
    /// # Errors
    /// [`Stopped`].
    pub(crate) fn write_record(
        &self,
        block: &Block,
        slot: usize,
        stop_check: &StopCheck<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Stopped> {
        out.push(b'{');
        if let Some(own) = &self.own {
            out.extend_from_slice(b"\"filter\":");
            own.explain(&block.body.columns, slot, stop_check)?
                .write_json(out);
        }
        out.push(b'}');
        Ok(())
    }
}

/// A duration as the response shows it: milliseconds, to the microsecond.
pub(crate) fn milliseconds(duration: Duration) -> Value {
    json!(duration.as_micros() as f64 / 1000.0)
}
