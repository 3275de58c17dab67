//! The candidates with the highest estimates.

use std::cmp::Reverse;

/// Estimates, and how to tell the highest of them from the others.
pub(super) struct BestEstimates {
    estimates: Vec<i32>,
    /// All estimates above this are taken.
    min: i32,
    /// How many estimates equal to `min` are still taken.
    ties: usize,
}

impl BestEstimates {
    /// The `count` highest of `estimates`, which are results of [`in_order`] or [`in_order_up_to`].
    pub(super) fn of(estimates: Vec<i32>, count: usize) -> Self {
        let mut ranked = estimates.clone();
        ranked.retain(|&estimate| estimate != NOT_TAKEN);
        if ranked.len() <= count {
            return Self {
                estimates,
                min: NOT_TAKEN,
                ties: 0,
            };
        }
        let (higher, &mut min, _) = ranked.select_nth_unstable_by_key(count, |&e| Reverse(e));
        let higher = higher.iter().filter(|&&estimate| estimate > min);
        Self {
            ties: count - higher.count(),
            min,
            estimates,
        }
    }

    /// Whether the estimate at `at` is taken. Call it once for each estimate, in order: a call may use up a tie.
    #[inline(always)]
    pub(super) fn takes(&mut self, at: usize) -> bool {
        let estimate = self.estimates[at];
        let is_tie = estimate == self.min && self.ties > 0;
        self.ties -= usize::from(is_tie);
        estimate > self.min || is_tie
    }
}

/// Less than [`in_order`] of any number.
const NOT_TAKEN: i32 = i32::MIN;

/// As [`in_order`], and [`NOT_TAKEN`] for numbers above `highest`.
pub(super) fn in_order_up_to(number: f32, highest: f32) -> i32 {
    if number > highest {
        NOT_TAKEN
    } else {
        in_order(number)
    }
}

/// An integer in the order of [`f32::total_cmp`].
pub(super) fn in_order(number: f32) -> i32 {
    let bits = number.to_bits().cast_signed();
    bits ^ ((bits >> 31).cast_unsigned() >> 1).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(estimates: &[i32], count: usize) -> Vec<usize> {
        let mut best = BestEstimates::of(estimates.to_vec(), count);
        (0..estimates.len()).filter(|&at| best.takes(at)).collect()
    }

    #[test]
    fn the_highest_estimates_are_taken_and_the_first_of_equal_ones() {
        assert_eq!(taken(&[5, 9, 5, 7, 5], 3), [0, 1, 3]);
        assert_eq!(taken(&[5, 5, 7], 2), [0, 2]);
        assert_eq!(taken(&[1, 2], 2), [0, 1]);
        assert_eq!(taken(&[1, 2], 3), [0, 1]);
    }

    #[test]
    fn estimates_above_the_cursor_are_not_taken() {
        let estimates = [-0.1, 0.9, 0.5, 0.7].map(|number| in_order_up_to(number, 0.8));
        assert_eq!(taken(&estimates, 2), [2, 3]);
        assert_eq!(taken(&estimates, 4), [0, 2, 3]);
    }

    #[test]
    fn integers_are_in_the_order_of_their_numbers() {
        let numbers = [
            f32::NEG_INFINITY,
            f32::MIN,
            -1.0,
            -0.0,
            0.0,
            0.25,
            1.0,
            f32::MAX,
        ];
        assert!(numbers.map(in_order).is_sorted_by(|a, b| a < b));
        assert!(in_order(f32::NEG_INFINITY) > NOT_TAKEN);
    }
}
