//! The member names of an object, to find duplicates.

use std::borrow::Cow;
use std::collections::HashSet;

/// The names of an object that were read so far: the first ones in a list, which is faster for few names, the others
/// in a set. The hasher of the standard library is seeded at random, so that no document can force collisions.
#[derive(Default)]
pub(super) struct Names<'a> {
    list: Vec<Cow<'a, str>>,
    set: HashSet<Cow<'a, str>>,
}

impl<'a> Names<'a> {
    const SHORT: usize = 16;

    pub(super) fn has(&self, name: &str) -> bool {
        self.list.iter().any(|known| known == name) || self.set.contains(name)
    }

    pub(super) fn add(&mut self, name: Cow<'a, str>) {
        if self.list.len() < Self::SHORT {
            self.list.push(name);
        } else {
            self.set.insert(name);
        }
    }
}
