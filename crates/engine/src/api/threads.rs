//! The threads that run calls, by kind.

use std::sync::Arc;

use crate::api::workers::Workers;

/// The number of threads for a kind of calls that must not all wait for one slow call.
const SEVERAL: usize = 2;

/// A queue and threads for each kind of call.
pub(crate) struct Threads {
    /// Creates and drops databases and their re-embedding stores, one at a time. A drop waits for the writer of the
    /// database.
    pub(crate) admin: Workers,
    /// Prepares and performs switches to another model, one at a time, because each opens a whole database.
    pub(crate) switches: Workers,
    /// Runs calls that must never wait for a query: lists of databases, single records, checks of writes.
    pub(crate) control: Workers,
    pub(crate) queries: Workers,
    /// Runs queries and deletions whose filter takes long.
    pub(crate) heavy: Arc<Workers>,
    /// Reads exports, which must not hold up queries.
    pub(crate) exports: Workers,
}

impl Threads {
    /// Starts all threads.
    ///
    /// # Errors
    /// The operating system's error when a thread cannot be started.
    pub(crate) fn start() -> std::io::Result<Self> {
        Ok(Self {
            admin: Workers::start("cosift-admin", 1)?,
            switches: Workers::start("cosift-switch", 1)?,
            control: Workers::start("cosift-control", SEVERAL)?,
            queries: Workers::start("cosift-query", SEVERAL)?,
            heavy: Arc::new(Workers::start("cosift-heavy-query", SEVERAL)?),
            exports: Workers::start("cosift-export", SEVERAL)?,
        })
    }

    /// Runs the calls that wait, and ends all threads.
    pub(crate) fn close(&self) {
        self.queries.close();
        self.heavy.close();
        self.exports.close();
        self.control.close();
        self.admin.close();
        self.switches.close();
    }
}
