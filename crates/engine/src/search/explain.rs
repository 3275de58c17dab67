//! `explain`: how a request was carried out, and why each result is one.

use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use crate::columns::ColumnNames;
use crate::error::Error;
use crate::filter::{BoundFilter, ExplainedFilter, Filter, RequestReader};
use crate::record::Variant;
use crate::runtime::{StopCheck, Stopped};
use crate::search::score_parts::ScoreParts;
use crate::snapshot::{Block, Snapshot};

/// The filters of a request that asks to explain. Nothing of the forced filter may show, not even that there is one.
#[derive(Clone, Debug)]
pub(crate) struct Explain {
    /// The filter that the caller gave.
    own: Option<Filter>,
    /// The filter that the caller's key forces.
    forced: Option<Filter>,
}

/// An [`Explain`] bound to a snapshot.
#[derive(Debug)]
pub(crate) struct BoundExplain {
    own: Option<ExplainedFilter>,
    forced: Option<BoundFilter>,
}

impl Explain {
    /// The filters of a request with `"explain": true`; `None` for other requests.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a filter that does not parse.
    pub(crate) fn parse(
        request: &RequestReader<'_>,
        variant: Variant,
    ) -> Result<Option<Self>, Error> {
        if !request.flag("explain")? {
            return Ok(None);
        }
        let own = request.filter_of("filter", variant)?;
        Ok(Some(Self {
            own,
            forced: request.filter_of("forced_filter", variant)?,
        }))
    }

    /// Whether the key forces a filter, so that some records must not show.
    pub(crate) fn is_scoped(&self) -> bool {
        self.forced.is_some()
    }

    /// Binds the filters to the columns of a snapshot.
    pub(crate) fn bind(&self, names: &ColumnNames) -> BoundExplain {
        let (own, forced) = (self.own.as_ref(), self.forced.as_ref());
        BoundExplain {
            own: own.map(|filter| filter.bind_explained(names)),
            forced: forced.map(|filter| filter.bind(names)),
        }
    }
}

impl BoundExplain {
    /// Whether the caller gave a filter.
    pub(crate) fn is_filtered(&self) -> bool {
        self.own.is_some()
    }

    /// Whether the key forces a filter, so that some records must not show.
    pub(crate) fn is_scoped(&self) -> bool {
        self.forced.is_some()
    }

    /// The number of records of a snapshot that exist for the caller.
    ///
    /// # Errors
    /// [`Stopped`].
    fn records(&self, snapshot: &Snapshot, stop_check: &StopCheck<'_>) -> Result<usize, Stopped> {
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

    /// Appends why a record is a result: `{"filter":…}` with the outcome of each of the caller's rules, and `"score"` with
    /// the parts of its score.
    ///
    /// # Errors
    /// [`Stopped`].
    pub(crate) fn write_record(
        &self,
        block: &Block,
        slot: usize,
        parts: Option<&ScoreParts>,
        stop_check: &StopCheck<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Stopped> {
        out.push(b'{');
        if let Some(own) = &self.own {
            out.extend_from_slice(b"\"filter\":");
            own.explain(&block.body.columns, slot, String::new(), stop_check)?
                .write_json(out);
        }
        if let Some(parts) = parts {
            if self.own.is_some() {
                out.push(b',');
            }
            parts.write(out);
        }
        out.push(b'}');
        Ok(())
    }
}

/// How a request was carried out.
pub(crate) struct Report {
    /// Records that exist for the caller, where the snapshot has only some of them.
    pub(crate) records: Option<u64>,
    /// Numbers of records by what was done with them.
    pub(crate) counters: Vec<(&'static str, u64)>,
    pub(crate) arrived: Instant,
    /// Time from the arrival to the start of the scan, for a request that waits for its scan.
    pub(crate) waited: Option<Duration>,
    /// Time from the start of the scan to its end.
    pub(crate) scan: Duration,
    /// Numbers that depend on the records that a forced filter hides: not shown where there is one.
    pub(crate) of_all_records: Vec<(&'static str, Value)>,
}

impl Report {
    /// The member `explain` of the response. Its total time ends now. `plan` says how the records were found, for people,
    /// `kernel` with which instruction set scores were computed.
    ///
    /// # Errors
    /// [`Stopped`].
    pub(crate) fn to_json(
        &self,
        (plan, kernel): (&str, Option<&str>),
        explain: &BoundExplain,
        snapshot: &Snapshot,
        stop_check: &StopCheck<'_>,
    ) -> Result<Value, Stopped> {
        let mut times = Map::new();
        if let Some(waited) = self.waited {
            times.insert("waited".into(), milliseconds(waited));
        }
        times.insert("scan".into(), milliseconds(self.scan));
        let mut json = json!({
            "plan": plan,
            "records": match self.records {
                Some(records) => records,
                None => explain.records(snapshot, stop_check)? as u64,
            },
        });
        if let Some(kernel) = kernel {
            json["kernel"] = kernel.into();
        }
        for (name, count) in &self.counters {
            json[name] = (*count).into();
        }
        if !explain.is_scoped() {
            for (name, value) in &self.of_all_records {
                json[name] = value.clone();
            }
        }
        times.insert("total".into(), milliseconds(self.arrived.elapsed()));
        json["times_ms"] = times.into();
        Ok(json)
    }
}

/// A duration as the response shows it: milliseconds, to the microsecond.
fn milliseconds(duration: Duration) -> Value {
    json!(duration.as_micros() as f64 / 1000.0)
}
