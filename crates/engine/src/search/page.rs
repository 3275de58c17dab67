//! A page as the interface shows it, written straight to its JSON text.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use crate::columns::write_data;
use crate::json::{write_integer, write_string, write_time};
use crate::record::{Hit, Score, Variant, cursor};
use crate::runtime::{StopCheck, Stopped};
use crate::search::caches::Counted;
use crate::search::explain::{BoundExplain, milliseconds};
use crate::search::job::Job;
use crate::snapshot::{Block, Snapshot};

/// An answered request.
#[derive(Clone, Debug)]
pub struct Page {
    /// The response body, JSON.
    pub body: Vec<u8>,
    /// Microseconds from the start of the scan to its end.
    pub scan_micros: u64,
    /// Microseconds from arrival to answer.
    pub total_micros: u64,
}

/// The start of a page.
const RESULTS: &[u8] = b"{\"results\":[";

/// Writes records and the members around them.
pub(crate) struct PageWriter<'a> {
    snapshot: &'a Snapshot,
    variant: Variant,
    pub(crate) out: Vec<u8>,
    results: usize,
    max_bytes: usize,
    explain: Option<&'a BoundExplain>,
}

impl<'a> PageWriter<'a> {
    /// The records take at most `max_bytes`, unless the first alone is longer. With `explain`, each record says
    /// why it is in.
    pub(crate) fn new(
        snapshot: &'a Snapshot,
        variant: Variant,
        max_bytes: usize,
        explain: Option<&'a BoundExplain>,
    ) -> Self {
        let mut out = Vec::with_capacity(16 * 1024);
        out.extend_from_slice(RESULTS);
        Self {
            snapshot,
            variant,
            out,
            results: 0,
            max_bytes,
            explain,
        }
    }

    /// Adds a record to the results. Returns `false`, and adds nothing, when the page has no room for it.
    ///
    /// # Errors
    /// [`Stopped`].
    pub(crate) fn record(
        &mut self,
        block: &Block,
        slot: usize,
        score: Option<Score>,
        stop_check: &StopCheck<'_>,
    ) -> Result<bool, Stopped> {
        let end = self.out.len();
        if self.results > 0 {
            self.out.push(b',');
        }
        write_open_record(
            self.snapshot,
            block,
            slot,
            self.variant,
            score,
            &mut self.out,
        );
        if let Some(explain) = self.explain {
            self.out.extend_from_slice(b",\"explain\":");
            explain.write_record(block, slot, stop_check, &mut self.out)?;
        }
        self.out.push(b'}');
        if self.results > 0 && self.out.len() - RESULTS.len() > self.max_bytes {
            self.out.truncate(end);
            return Ok(false);
        }
        self.results += 1;
        Ok(true)
    }

    /// Ends the results and adds `pagination`; `next` writes the cursor of the next page, if there is one.
    pub(crate) fn pagination(&mut self, limit: usize, next: Option<&[u8]>) {
        self.out.extend_from_slice(b"],\"pagination\":{\"limit\":");
        write_integer(limit as u64, &mut self.out);
        if let Some(next) = next {
            self.out.extend_from_slice(b",\"next_cursor\":");
            write_string(&String::from_utf8_lossy(next), &mut self.out);
        }
        self.out.extend_from_slice(b",\"has_more\":");
        self.out
            .extend_from_slice(if next.is_some() { b"true}" } else { b"false}" });
    }

    /// Adds a member of the response, its value as JSON.
    pub(crate) fn member(&mut self, name: &str, json: &[u8]) {
        self.out.push(b',');
        write_string(name, &mut self.out);
        self.out.push(b':');
        self.out.extend_from_slice(json);
    }

    /// Ends the response.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.out.push(b'}');
        self.out
    }
}

/// Writes one record as `variant` shows it.
pub(crate) fn write_record(
    snapshot: &Snapshot,
    block: &Block,
    slot: usize,
    variant: Variant,
    out: &mut Vec<u8>,
) {
    write_open_record(snapshot, block, slot, variant, None, out);
    out.push(b'}');
}

/// Writes one record but for its last brace, so that members can follow.
fn write_open_record(
    snapshot: &Snapshot,
    block: &Block,
    slot: usize,
    variant: Variant,
    score: Option<Score>,
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(b"{\"id\":");
    match variant {
        Variant::A => {
            out.push(b'"');
            block.uuid(slot).write(out);
            out.push(b'"');
        }
        Variant::B => write_integer(block.id(slot).0, out),
    }
    if let Some(score) = score {
        out.extend_from_slice(b",\"relevance_score\":");
        score.write(out);
    }
    out.extend_from_slice(b",\"data\":");
    write_data(&block.body.columns, slot, &snapshot.names, out);
    out.extend_from_slice(b",\"timestamps\":{");
    let times = block.times(slot);
    let values = [times.created, times.changed, times.synced];
    for (at, (name, time)) in variant.time_names().into_iter().zip(values).enumerate() {
        out.extend_from_slice(if at == 0 { b"\"" } else { b",\"" });
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b"\":\"");
        write_time(time, out);
        out.push(b'"');
    }
    out.push(b'}');
}

/// Writes the page of a search; `hits` has one more than fits when there is more.
///
/// # Errors
/// [`Stopped`].
pub(crate) fn write_search(
    job: &Job,
    hits: &[Hit],
    counted: &Counted,
    scan: Duration,
) -> Result<Vec<u8>, Stopped> {
    let stop_check = &job.stop_check();
    let search = &job.search;
    let mut writer = PageWriter::new(
        &job.snapshot,
        search.variant,
        search.page_bytes,
        job.explain.as_ref(),
    );
    let mut shown = 0;
    for hit in hits.iter().take(search.limit) {
        let (block, slot) = job.snapshot.at(hit.row);
        if !writer.record(block, slot, Some(hit.position.score), stop_check)? {
            break;
        }
        shown += 1;
    }
    let next = match hits[..shown].last() {
        Some(last) if shown < hits.len() => {
            let mut text = Vec::new();
            cursor::write(search.variant, last.position, &mut text);
            Some(text)
        }
        _ => None,
    };
    writer.pagination(search.limit, next.as_deref());
    if search.approximate {
        writer.member("approximate", b"true");
    }
    if search.total {
        writer.member(
            "total",
            format!("{{\"value\":{}}}", counted.total).as_bytes(),
        );
    }
    if !search.facets.is_empty() {
        writer.member("facets", &counted.facets);
    }
    if let Some(explain) = &job.explain {
        writer.member("explain", &explain_search(job, explain, scan)?);
    }
    Ok(writer.finish())
}

fn explain_search(job: &Job, explain: &BoundExplain, scan: Duration) -> Result<Vec<u8>, Stopped> {
    let counts = &job.counts;
    let (waited, total) = job.times();
    let mut told = serde_json::json!({
        "plan": job.plan(),
        "kernel": cosift_kernels::kernel_name(),
        "records": explain.records(&job.snapshot, &job.stop_check())?,
        "scanned": counts.scanned.load(Relaxed),
        "refined": counts.refined.load(Relaxed),
        "scored": counts.scored.load(Relaxed),
        "times_ms": {
            "waited": milliseconds(waited),
            "scan": milliseconds(scan),
            "total": milliseconds(total),
        },
    });
    if !explain.is_scoped() {
        // Of all records, also those that a forced filter hides.
        if let Some(walk) = &job.walk {
            told["approximate"] = walk.explain();
        }
        told["rotated"] = job.snapshot.rotated().into();
    }
    Ok(told.to_string().into_bytes())
}
