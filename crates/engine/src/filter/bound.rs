//! A filter bound to the columns of a database.

use std::collections::BTreeMap;
use std::sync::Arc;

use memchr::memmem::Finder;

use crate::columns::{ColumnId, ColumnNames, Columns, Mask};
use crate::filter::ast::{Condition, Filter, Group, Node};
use crate::filter::needles::{Need, Needles};
use crate::filter::test::Test;
use crate::filter::trace::Trace;
use crate::record::Value;
use crate::runtime::{StopCheck, Stopped};

/// A filter that can run; nothing in it can fail.
#[derive(Clone, Debug)]
pub(crate) struct BoundFilter {
    root: Bound,
}

#[derive(Clone, Debug)]
enum Bound {
    All(Parts),
    Any(Parts),
    Rule {
        /// `None` where no record ever had the column.
        column: Option<ColumnId>,
        test: Test,
        negated: bool,
    },
    /// Stands for several rules of a group.
    Needles(Needles),
}

/// The rules of a group.
#[derive(Clone, Debug)]
struct Parts {
    /// As they were written.
    rules: Vec<Arc<Bound>>,
    /// As they are tested: rules that one pass can test are one part.
    tested: Vec<Arc<Bound>>,
}

/// A rule is worth putting off until after scoring when it costs this many nanoseconds a record …
const LAZY_COST: f64 = 4.0;
/// … and keeps this share of the records, so that a page is soon full of those it keeps.
const LAZY_SHARE: f64 = 0.15;
/// Records of a block that are tried to see what a rule keeps.
const TRIED: usize = 512;

impl Filter {
    /// Looks up the columns; a column that no record ever had is missing everywhere.
    pub(crate) fn bind(&self, names: &ColumnNames) -> BoundFilter {
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
        .map(Arc::new)
        .collect();
    let parts = Parts::new(rules, group.condition);
    match group.condition {
        Condition::And => Bound::All(parts),
        Condition::Or => Bound::Any(parts),
    }
}

impl Parts {
    fn new(rules: Vec<Arc<Bound>>, condition: Condition) -> Self {
        // The rules that search one column for a substring, by column and whether they are complements.
        let mut searches: BTreeMap<(Option<ColumnId>, bool), Vec<usize>> = BTreeMap::new();
        for (at, rule) in rules.iter().enumerate() {
            if let Bound::Rule {
                column, negated, ..
            } = &**rule
                && rule.finder().is_some()
            {
                searches.entry((*column, *negated)).or_default().push(at);
            }
        }
        let mut tested: Vec<Arc<Bound>> = Vec::new();
        let mut together = vec![false; rules.len()];
        for ((column, negated), places) in searches {
            // That none is contained is that not one of them is, and so for the others.
            let need = if (condition == Condition::And) != negated {
                Need::All
            } else {
                Need::Any
            };
            let finders = places.iter().filter_map(|&at| rules[at].finder());
            let finders = finders.map(Arc::clone).collect();
            if let Some(needles) = Needles::new(column, need, negated, finders) {
                tested.push(Arc::new(Bound::Needles(needles)));
                places.into_iter().for_each(|at| together[at] = true);
            }
        }
        let alone = rules
            .iter()
            .zip(&together)
            .filter(|(_, together)| !**together);
        tested.extend(alone.map(|(rule, _)| Arc::clone(rule)));
        Self { rules, tested }
    }
}

impl BoundFilter {
    /// The records of `within` that the filter lets through.
    ///
    /// # Errors
    /// [`Stopped`].
    pub(crate) fn mask(
        &self,
        columns: &Columns,
        within: &Mask,
        stop_check: &StopCheck<'_>,
    ) -> Result<Mask, Stopped> {
        self.root.mask(columns, within, stop_check)
    }

    /// Whether the filter lets one record through.
    ///
    /// # Errors
    /// [`Stopped`].
    ///
    /// # Panics
    /// When `slot` is not a record of `columns`.
    pub(crate) fn matches(
        &self,
        columns: &Columns,
        slot: usize,
        stop_check: &StopCheck<'_>,
    ) -> Result<bool, Stopped> {
        self.root.matches(columns, slot, stop_check)
    }

    /// Which rules and groups hold for one record, with pointers into the filter.
    ///
    /// # Errors
    /// [`Stopped`].
    ///
    /// # Panics
    /// When `slot` is not a record of `columns`, or the filter was split off another.
    pub(crate) fn explain(
        &self,
        columns: &Columns,
        slot: usize,
        stop_check: &StopCheck<'_>,
    ) -> Result<Trace, Stopped> {
        self.root.explain(columns, slot, String::new(), stop_check)
    }

    /// What [`BoundFilter::mask`] costs for this block, in rough nanoseconds.
    pub(crate) fn cost(&self, columns: &Columns) -> f64 {
        self.root.cost(columns)
    }

    /// Splits off the rules that are better tested on the best scored records than on all before:
    /// those that are expensive to evaluate and keep many. Judged by a sample block; both parts together
    /// let through what the whole does. Only the parts of an outermost AND come apart.
    ///
    /// # Errors
    /// [`Stopped`].
    pub(crate) fn split(
        &self,
        sample: &Columns,
        stop_check: &StopCheck<'_>,
    ) -> Result<(Self, Option<Self>), Stopped> {
        let parts = match &self.root {
            Bound::All(parts) => parts.tested.clone(),
            other => vec![Arc::new(other.clone())],
        };
        let (mut lazy, mut cheap) = (Vec::new(), Vec::new());
        for part in parts {
            if part.is_lazy(sample, stop_check)? {
                lazy.push(part);
            } else {
                cheap.push(part);
            }
        }
        let all = |tested: Vec<Arc<Bound>>| Self {
            root: Bound::All(Parts {
                rules: Vec::new(),
                tested,
            }),
        };
        let lazy = (!lazy.is_empty()).then(|| all(lazy));
        Ok((all(cheap), lazy))
    }
}

impl Bound {
    /// What a rule searches for. The empty string is in every other: there is nothing to search.
    fn finder(&self) -> Option<&Arc<Finder<'static>>> {
        match self {
            Self::Rule {
                test: Test::Contains(finder),
                ..
            } if !finder.needle().is_empty() => Some(finder),
            _ => None,
        }
    }

    fn mask(
        &self,
        columns: &Columns,
        within: &Mask,
        stop_check: &StopCheck<'_>,
    ) -> Result<Mask, Stopped> {
        match self {
            Self::Rule {
                column,
                test,
                negated,
            } => {
                let held =
                    test.mask(column.and_then(|id| columns.column(id)), within, stop_check)?;
                if !negated {
                    return Ok(held);
                }
                Ok(within.without(&held))
            }
            Self::Needles(needles) => needles.mask(columns, within, stop_check),
            Self::All(parts) => {
                let mut left = within.clone();
                for part in cheapest_first(&parts.tested, columns) {
                    left = part.mask(columns, &left, stop_check)?;
                    if left.is_empty() {
                        break;
                    }
                }
                Ok(left)
            }
            Self::Any(parts) => {
                let mut left = within.clone();
                for part in cheapest_first(&parts.tested, columns) {
                    left.and_not(&part.mask(columns, &left, stop_check)?);
                    if left.is_empty() {
                        return Ok(within.clone());
                    }
                }
                Ok(within.without(&left))
            }
        }
    }

    fn matches(
        &self,
        columns: &Columns,
        slot: usize,
        stop_check: &StopCheck<'_>,
    ) -> Result<bool, Stopped> {
        match self {
            Self::Rule {
                column,
                test,
                negated,
            } => {
                let value = column.and_then(|id| columns.value(slot, id));
                stop_check.before_testing(bytes_of(value))?;
                Ok(test.holds(value) != *negated)
            }
            Self::Needles(needles) => {
                let value = needles.column().and_then(|id| columns.value(slot, id));
                let text = match value {
                    Some(Value::Text(text)) => Some(text),
                    _ => None,
                };
                needles.holds(text, stop_check)
            }
            Self::All(parts) => {
                for part in &parts.tested {
                    if !part.matches(columns, slot, stop_check)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Self::Any(parts) => {
                for part in &parts.tested {
                    if part.matches(columns, slot, stop_check)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
        }
    }

    fn explain(
        &self,
        columns: &Columns,
        slot: usize,
        pointer: String,
        stop_check: &StopCheck<'_>,
    ) -> Result<Trace, Stopped> {
        let outcomes = |parts: &Parts| {
            let rules = parts.rules.iter().enumerate();
            rules
                .map(|(at, rule)| {
                    rule.explain(columns, slot, format!("{pointer}/rules/{at}"), stop_check)
                })
                .collect::<Result<Vec<Trace>, Stopped>>()
        };
        let (held, rules) = match self {
            Self::Rule { .. } | Self::Needles(_) => {
                (self.matches(columns, slot, stop_check)?, Vec::new())
            }
            Self::All(parts) => {
                let rules = outcomes(parts)?;
                (rules.iter().all(|rule| rule.held), rules)
            }
            Self::Any(parts) => {
                let rules = outcomes(parts)?;
                (rules.iter().any(|rule| rule.held), rules)
            }
        };
        Ok(Trace {
            held,
            pointer,
            rules,
        })
    }

    fn is_lazy(&self, sample: &Columns, stop_check: &StopCheck<'_>) -> Result<bool, Stopped> {
        let tried = Mask::full(sample.len().min(TRIED));
        let records = tried.count() as f64;
        let (cost, hit_cost) = (
            self.cost(sample) / sample.len() as f64,
            self.hit_cost(sample),
        );
        if records == 0.0 || cost + hit_cost <= LAZY_COST {
            return Ok(false);
        }
        let kept = self.mask(sample, &tried, stop_check)?.count() as f64;
        let negated = matches!(self, Self::Rule { negated: true, .. });
        let held = if negated { records - kept } else { kept };
        Ok(cost + hit_cost * held / records > LAZY_COST && kept > LAZY_SHARE * records)
    }

    /// Rough nanoseconds that a record adds to the cost if the most expensive test holds for it.
    fn hit_cost(&self, columns: &Columns) -> f64 {
        match self {
            Self::Rule { column, test, .. } => {
                test.hit_cost(column.and_then(|id| columns.column(id)))
            }
            Self::Needles(_) => 0.0,
            Self::All(parts) | Self::Any(parts) => parts
                .tested
                .iter()
                .map(|part| part.hit_cost(columns))
                .fold(0.0, f64::max),
        }
    }

    /// Rough nanoseconds for all of a block.
    fn cost(&self, columns: &Columns) -> f64 {
        match self {
            Self::Rule { column, test, .. } => test.cost(column.and_then(|id| columns.column(id))),
            Self::Needles(needles) => needles.cost(columns),
            Self::All(parts) | Self::Any(parts) => {
                parts.tested.iter().map(|part| part.cost(columns)).sum()
            }
        }
    }
}

fn bytes_of(value: Option<Value<'_>>) -> usize {
    match value {
        Some(Value::Text(text)) => text.len(),
        _ => 0,
    }
}

/// Later rules only look at the records that earlier ones left open.
fn cheapest_first<'a>(parts: &'a [Arc<Bound>], columns: &Columns) -> Vec<&'a Bound> {
    let mut order: Vec<(f64, &Bound)> = parts
        .iter()
        .map(|part| (part.cost(columns), &**part))
        .collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    order.into_iter().map(|(_, part)| part).collect()
}
