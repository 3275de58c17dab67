//! Connections that are kept open between reads.

use std::collections::VecDeque;

use parking_lot::Mutex;
use rusqlite::Connection;

/// Connections kept open between reads, of all stores together: each has two files and up to 2 MiB of pages.
const MAX_IDLE: usize = 64;

/// The same of one store.
const MAX_IDLE_OF_STORE: usize = 4;

/// The idle connections of several stores, each of which has a number.
#[derive(Debug)]
pub(super) struct IdleConnections {
    /// The last is the one that was used most recently.
    idle: Mutex<VecDeque<(usize, Connection)>>,
}

impl IdleConnections {
    pub(super) const fn new() -> Self {
        Self {
            idle: Mutex::new(VecDeque::new()),
        }
    }

    /// Takes a connection of a store.
    pub(super) fn take(&self, store: usize) -> Option<Connection> {
        let mut idle = self.idle.lock();
        let at = idle.iter().rposition(|(of, _)| *of == store)?;
        idle.remove(at).map(|(_, connection)| connection)
    }

    /// Keeps a connection of a store, unless the store has enough. It closes the one that was used longest ago when there
    /// are too many.
    pub(super) fn keep(&self, store: usize, connection: Connection) {
        let mut idle = self.idle.lock();
        let of_store = idle.iter().filter(|(of, _)| *of == store);
        let too_many = if of_store.count() >= MAX_IDLE_OF_STORE {
            Some((store, connection))
        } else {
            idle.push_back((store, connection));
            (idle.len() > MAX_IDLE).then(|| idle.pop_front()).flatten()
        };
        drop(idle);
        // Closing a connection takes longer than the other calls may wait for the lock.
        drop(too_many);
    }

    /// Closes the connections of a store.
    pub(super) fn close_all(&self, store: usize) {
        let mut idle = self.idle.lock();
        let (of_store, others) = std::mem::take(&mut *idle)
            .into_iter()
            .partition(|(of, _)| *of == store);
        *idle = others;
        drop(idle);
        let _: VecDeque<_> = of_store;
    }
}
