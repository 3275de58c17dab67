//! A filter bound to the columns of a database.

use super::ast::{Condition, Filter, Group, Node};
use super::test::Test;
use super::trace::Trace;
use crate::columns::{ColumnId, ColumnNames, Columns};
use crate::mask::Mask;

/// A filter that can run; nothing in it can fail.
#[derive(Clone, Debug)]
pub struct BoundFilter {
    root: Bound,
}

#[derive(Clone, Debug)]
enum Bound {
    All(Vec<Bound>),
    Any(Vec<Bound>),
    Rule {
        /// `None` where no record ever had the column.
        column: Option<ColumnId>,
        test: Test,
        negated: bool,
    },
}

/// A rule is worth putting off until after scoring when it costs this many nanoseconds a record …
const LAZY_COST: f64 = 4.0;
/// … and keeps this share of the records, so that a page is soon full of those it keeps.
const LAZY_SHARE: f64 = 0.15;
/// Records of a block that are tried to see what a rule keeps.
const TRIED: usize = 512;

impl Filter {
    /// Looks up the columns; a column that no record ever had is missing everywhere.
    pub fn bind(&self, names: &ColumnNames) -> BoundFilter {
        BoundFilter {
            root: bind(&self.root, names),
        }
    }
}

fn bind(group: &Group, names: &ColumnNames) -> Bound {
    let rules = group
        .rules
        .iter()
        .map(|node| match node {
            Node::Group(group) => bind(group, names),
            Node::Rule(rule) => {
                let (test, negated) = Test::of(rule);
                Bound::Rule {
                    column: names.id(&rule.column),
                    test,
                    negated,
                }
            }
        })
        .collect();
    match group.condition {
        Condition::And => Bound::All(rules),
        Condition::Or => Bound::Any(rules),
    }
}

impl BoundFilter {
    /// The records of `within` that the filter lets through.
    pub fn mask(&self, columns: &Columns, within: &Mask) -> Mask {
        self.root.mask(columns, within)
    }

    /// Whether the filter lets one record through.
    ///
    /// # Panics
    /// When `slot` is not a record of `columns`.
    pub fn matches(&self, columns: &Columns, slot: usize) -> bool {
        self.root.matches(columns, slot)
    }

    /// Which rules and groups hold for one record, with pointers into the filter.
    ///
    /// # Panics
    /// When `slot` is not a record of `columns`.
    pub fn explain(&self, columns: &Columns, slot: usize) -> Trace {
        self.root.explain(columns, slot, String::new())
    }

    /// What [`BoundFilter::mask`] costs a record of this block, in rough nanoseconds.
    pub fn cost(&self, columns: &Columns) -> f64 {
        self.root.cost(columns) / columns.len().max(1) as f64
    }

    /// Splits off the rules that are better tested on the best scored records than on all before:
    /// those that are dear and keep many. Judged by a sample block; both parts together let through
    /// what the whole does. Only the parts of an outermost AND come apart.
    pub fn split(&self, sample: &Columns) -> (Self, Option<Self>) {
        let parts = match &self.root {
            Bound::All(rules) => rules.clone(),
            other => vec![other.clone()],
        };
        let (lazy, cheap): (Vec<_>, Vec<_>) =
            parts.into_iter().partition(|part| part.is_lazy(sample));
        let lazy = (!lazy.is_empty()).then_some(Self {
            root: Bound::All(lazy),
        });
        (
            Self {
                root: Bound::All(cheap),
            },
            lazy,
        )
    }
}

impl Bound {
    fn mask(&self, columns: &Columns, within: &Mask) -> Mask {
        match self {
            Self::Rule {
                column,
                test,
                negated,
            } => {
                let held = test.mask(column.and_then(|id| columns.column(id)), within);
                if !negated {
                    return held;
                }
                let mut out = within.clone();
                out.and_not(&held);
                out
            }
            Self::All(rules) => {
                let mut left = within.clone();
                for rule in cheapest_first(rules, columns) {
                    left = rule.mask(columns, &left);
                    if left.is_empty() {
                        break;
                    }
                }
                left
            }
            Self::Any(rules) => {
                let mut left = within.clone();
                for rule in cheapest_first(rules, columns) {
                    left.and_not(&rule.mask(columns, &left));
                    if left.is_empty() {
                        return within.clone();
                    }
                }
                let mut out = within.clone();
                out.and_not(&left);
                out
            }
        }
    }

    fn matches(&self, columns: &Columns, slot: usize) -> bool {
        match self {
            Self::Rule {
                column,
                test,
                negated,
            } => test.holds(column.and_then(|id| columns.value(slot, id))) != *negated,
            Self::All(rules) => rules.iter().all(|rule| rule.matches(columns, slot)),
            Self::Any(rules) => rules.iter().any(|rule| rule.matches(columns, slot)),
        }
    }

    fn explain(&self, columns: &Columns, slot: usize, pointer: String) -> Trace {
        let rules = match self {
            Self::Rule { .. } => Vec::new(),
            Self::All(rules) | Self::Any(rules) => rules
                .iter()
                .enumerate()
                .map(|(at, rule)| rule.explain(columns, slot, format!("{pointer}/rules/{at}")))
                .collect(),
        };
        Trace {
            held: self.matches(columns, slot),
            pointer,
            rules,
        }
    }

    fn is_lazy(&self, sample: &Columns) -> bool {
        let tried = Mask::full(sample.len().min(TRIED));
        let records = tried.count() as f64;
        let (cost, hit_cost) = (
            self.cost(sample) / sample.len() as f64,
            self.hit_cost(sample),
        );
        if records == 0.0 || cost + hit_cost <= LAZY_COST {
            return false;
        }
        let kept = self.mask(sample, &tried).count() as f64;
        let negated = matches!(self, Self::Rule { negated: true, .. });
        let held = if negated { records - kept } else { kept };
        cost + hit_cost * held / records > LAZY_COST && kept > LAZY_SHARE * records
    }

    /// Rough nanoseconds that a record adds to the cost if the dearest test holds for it.
    fn hit_cost(&self, columns: &Columns) -> f64 {
        match self {
            Self::Rule { column, test, .. } => {
                test.hit_cost(column.and_then(|id| columns.column(id)))
            }
            Self::All(rules) | Self::Any(rules) => rules
                .iter()
                .map(|rule| rule.hit_cost(columns))
                .fold(0.0, f64::max),
        }
    }

    /// Rough nanoseconds for all of a block.
    fn cost(&self, columns: &Columns) -> f64 {
        match self {
            Self::Rule { column, test, .. } => test.cost(column.and_then(|id| columns.column(id))),
            Self::All(rules) | Self::Any(rules) => {
                rules.iter().map(|rule| rule.cost(columns)).sum()
            }
        }
    }
}

/// Later rules only look at the records that earlier ones left open.
fn cheapest_first<'a>(rules: &'a [Bound], columns: &Columns) -> Vec<&'a Bound> {
    let mut order: Vec<(f64, &Bound)> = rules
        .iter()
        .map(|rule| (rule.cost(columns), rule))
        .collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    order.into_iter().map(|(_, rule)| rule).collect()
}
