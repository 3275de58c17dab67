//! The groups with the highest scores that one of their matches certainly reaches.

use crate::record::Score;

/// One group for each place of a page, with such a score.
#[derive(Default)]
pub(super) struct BestGroups {
    /// In no order.
    groups: Vec<(usize, Score)>,
    /// The lowest of their scores, once every place is taken.
    floor: Option<Score>,
}

impl BestGroups {
    /// Notes that a match of a group reaches a score, which is the highest one noted for the group. Returns the lowest score
    /// of the groups for `places` places when it rises.
    pub(super) fn add(&mut self, group: usize, score: Score, places: usize) -> Option<Score> {
        if self.floor.is_some_and(|floor| score <= floor) {
            return None;
        }
        let lowest = |groups: &[(usize, Score)]| {
            let scores = groups.iter().enumerate();
            scores
                .min_by_key(|(_, (_, score))| *score)
                .map(|(at, &(_, score))| (at, score))
        };
        let known = self.groups.iter().position(|&(other, _)| other == group);
        if let Some(known) = known {
            self.groups[known].1 = score;
        } else if self.groups.len() < places {
            self.groups.push((group, score));
        } else {
            let (at, _) = lowest(&self.groups)?;
            self.groups[at] = (group, score);
        }
        if self.groups.len() < places {
            return None;
        }
        let (_, floor) = lowest(&self.groups)?;
        let rises = self.floor.is_none_or(|before| floor > before);
        self.floor = Some(floor);
        rises.then_some(floor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_takes_one_place() {
        let mut best = BestGroups::default();
        let mut add = |group, score| best.add(group, Score(score), 2).map(|score| score.0);
        assert_eq!(add(7, 10), None);
        assert_eq!(add(7, 20), None);
        assert_eq!(add(8, 5), Some(5));
        assert_eq!(add(9, 5), None);
        assert_eq!(add(9, 15), Some(15));
        assert_eq!(add(9, 30), Some(20));
        assert_eq!(add(7, 25), Some(25));
        assert_eq!(add(8, 25), None);
    }
}
