//! Answering a search whose blocks were scanned.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use crate::error::Error;
use crate::record::{Hit, Position};
use crate::runtime::message;
use crate::search::caches::Counted;
use crate::search::job::Job;
use crate::search::page::{self, Page};

impl Job {
    /// Answers with the page or the error. Later calls do nothing.
    pub(crate) fn finish(&self) {
        if let Some(reply) = self.reply.lock().take() {
            let page = catch_unwind(AssertUnwindSafe(|| self.page()));
            reply(page.unwrap_or_else(|panic| {
                Err(Error::Internal {
                    detail: message(&*panic),
                })
            }));
        }
    }

    /// The hits of the page, in order, and what was found beyond it.
    fn hits(&self) -> Result<Vec<Hit>, Error> {
        if let Some(known) = &self.known {
            return Ok(known.clone());
        }
        let hits = self.ranking.settle(|row| {
            let (block, slot) = self.snapshot.at(row);
            Ok(Position {
                score: self.score(block, slot)?,
                id: self.id_key(block, slot),
            })
        })?;
        if let Some(after) = self.ranking.after().filter(|_| !self.counts_all()) {
            let size = self.ranking.size();
            self.target
                .pages
                .keep(*self.key(), &self.snapshot, after, &hits, size);
        }
        Ok(hits)
    }

    /// What the search counts over all its matches.
    fn counted(&self) -> Result<Arc<Counted>, Error> {
        if let Some(known) = &self.known_counts {
            return Ok(Arc::clone(known));
        }
        let counted = Arc::new(Counted {
            total: self.matches.load(Relaxed),
            facets: if self.search.facets.is_empty() {
                Vec::new()
            } else {
                self.facets.write(self.search.page_bytes)?
            },
        });
        if self.counts_all() {
            self.target
                .counts
                .keep(*self.key(), &self.snapshot, &counted);
        }
        Ok(counted)
    }

    fn page(&self) -> Result<Page, Error> {
        if let Some(error) = self.failed.lock().take() {
            return Err(error);
        }
        if self.stop.load(Relaxed) {
            return Err(Error::Stopped);
        }
        let scan = self.scan_started.lock().map(|start| start.elapsed());
        let hits = self.hits()?;
        let shown = &hits[..hits.len().min(self.search.limit + 1)];
        let counted = self.counted()?;
        let body = page::write_search(self, shown, &counted, scan.unwrap_or_default())?;
        Ok(Page {
            body,
            scan_micros: scan.unwrap_or_default().as_micros() as u64,
            total_micros: self.arrived.elapsed().as_micros() as u64,
        })
    }
}
