//! What was used most recently, up to a limit.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

/// The most recently used of many objects. It keeps none of them alive.
pub(crate) struct RecentlyUsed<T> {
    limit: usize,
    /// The last is the most recent.
    used: Mutex<VecDeque<Weak<T>>>,
}

impl<T> RecentlyUsed<T> {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            used: Mutex::default(),
        }
    }

    /// Notes a use. Returns the object that was used longest ago and is forgotten, when there are more than the limit.
    pub(crate) fn note(&self, object: &Arc<T>) -> Option<Arc<T>> {
        let mut used = self.used.lock();
        remove(&mut used, object);
        used.push_back(Arc::downgrade(object));
        while used.len() > self.limit {
            let oldest = used.pop_front()?.upgrade();
            if oldest.is_some() {
                return oldest;
            }
        }
        None
    }

    /// Forgets an object.
    pub(crate) fn forget(&self, object: &Arc<T>) {
        remove(&mut self.used.lock(), object);
    }

    /// Whether the next other object would be one too many.
    pub(crate) fn is_full(&self) -> bool {
        let mut used = self.used.lock();
        used.retain(|object| object.strong_count() > 0);
        used.len() >= self.limit
    }
}

fn remove<T>(used: &mut VecDeque<Weak<T>>, object: &Arc<T>) {
    let is_object = |other: &Weak<T>| std::ptr::eq(other.as_ptr(), Arc::as_ptr(object));
    // Most uses are of what was used last.
    if let Some(at) = used.iter().rposition(is_object) {
        used.remove(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_object_that_was_used_longest_ago_is_forgotten_first() {
        let used = RecentlyUsed::new(2);
        let [a, b, c] = ["a", "b", "c"].map(Arc::new);
        assert_eq!(used.note(&a), None);
        assert_eq!(used.note(&b), None);
        assert_eq!(used.note(&a), None);
        assert_eq!(used.note(&c), Some(b.clone()));
        assert!(used.is_full());
        drop(a);
        assert!(!used.is_full());
        assert_eq!(used.note(&b), None);
        used.forget(&c);
        assert!(!used.is_full());
    }
}
