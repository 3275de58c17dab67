//! The rules of a filter that are evaluated after scoring.

use std::sync::Arc;

use crate::columns::{Columns, Mask};
use crate::filter::bound::{BoundFilter, BoundRule};
use crate::runtime::{StopCheck, Stopped};

/// A rule is deferred when it costs more than this many nanoseconds a record …
const MIN_DEFERRED_COST: f64 = 4.0;
/// … and more than this share of the records passes, so that few of the best scored records fail and a page fills
/// soon.
const MIN_DEFERRED_SHARE: f64 = 0.15;
/// Records of the sample block on which a rule is evaluated to estimate the share that passes.
const SAMPLE_RECORDS: usize = 512;

impl BoundFilter {
    /// Splits the filter into the rules to evaluate before scoring, and the deferred ones, if there are any.
    ///
    /// Deferred are rules of an outermost AND that are expensive to evaluate and that many records pass, estimated on
    /// a sample block: they are evaluated on the best scored records only. A record passes the filter if it passes
    /// both parts.
    ///
    /// # Errors
    /// [`Stopped`].
    pub(crate) fn split(
        &self,
        sample: &Columns,
        stop_check: &StopCheck<'_>,
    ) -> Result<(Self, Option<Self>), Stopped> {
        let nodes = match self {
            Self::All(rules) => rules.clone(),
            other => vec![Arc::new(other.clone())],
        };
        let (mut deferred, mut others) = (Vec::new(), Vec::new());
        for node in nodes {
            if is_deferred(&node, sample, stop_check)? {
                deferred.push(node);
            } else {
                others.push(node);
            }
        }
        let deferred = (!deferred.is_empty()).then(|| Self::All(deferred));
        Ok((Self::All(others), deferred))
    }
}

fn is_deferred(
    node: &BoundFilter,
    sample: &Columns,
    stop_check: &StopCheck<'_>,
) -> Result<bool, Stopped> {
    let sampled = Mask::full(sample.len().min(SAMPLE_RECORDS));
    let records = sampled.count() as f64;
    let cost = node.cost(sample) / sample.len() as f64;
    let match_cost = node.match_cost(sample);
    if records == 0.0 || cost + match_cost <= MIN_DEFERRED_COST {
        return Ok(false);
    }
    let passed = node.mask(sample, &sampled, stop_check)?.count() as f64;
    let negated = matches!(node, BoundFilter::Rule(BoundRule { negated: true, .. }));
    let matched = if negated { records - passed } else { passed };
    Ok(cost + match_cost * matched / records > MIN_DEFERRED_COST
        && passed > MIN_DEFERRED_SHARE * records)
}
