//! The names of an object that is being read.

use std::borrow::Cow;

use hashbrown::HashSet;

/// The names of an object so far: a list while it is short, a set (with a random seed, so that no
/// document can make it slow) from then on.
#[derive(Default)]
pub(super) struct Names<'a> {
    list: Vec<Cow<'a, str>>,
    set: HashSet<Cow<'a, str>, std::hash::RandomState>,
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
