//! Why a record passed a filter or did not.

use crate::columns::Columns;
use crate::filter::ast::Condition;
use crate::filter::bound::BoundRule;
use crate::json;
use crate::runtime::{StopCheck, Stopped};

/// A filter bound to the columns of a database, with each rule and group as the request gives it.
#[derive(Debug)]
pub(crate) enum ExplainedFilter {
    Rule(BoundRule),
    Group {
        condition: Condition,
        nodes: Vec<ExplainedFilter>,
    },
}

impl ExplainedFilter {
    /// Which rules and groups hold for one record. `pointer` is the JSON pointer of this one.
    ///
    /// # Errors
    /// [`Stopped`].
    ///
    /// # Panics
    /// When `slot` is not a record of `columns`.
    pub(crate) fn explain(
        &self,
        columns: &Columns,
        slot: usize,
        pointer: String,
        stop_check: &StopCheck<'_>,
    ) -> Result<Explanation, Stopped> {
        let (held, rules) = match self {
            Self::Rule(rule) => (rule.matches(columns, slot, stop_check)?, Vec::new()),
            Self::Group { condition, nodes } => {
                let mut rules = Vec::with_capacity(nodes.len());
                for (at, node) in nodes.iter().enumerate() {
                    let pointer = format!("{pointer}/rules/{at}");
                    rules.push(node.explain(columns, slot, pointer, stop_check)?);
                }
                let held = match condition {
                    Condition::And => rules.iter().all(|rule| rule.held),
                    Condition::Or => rules.iter().any(|rule| rule.held),
                };
                (held, rules)
            }
        };
        Ok(Explanation {
            held,
            pointer,
            rules,
        })
    }
}

/// The outcome of a rule or group for one record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Explanation {
    /// JSON pointer to the rule or group, relative to the filter.
    pub(crate) pointer: String,
    /// Whether the rule or group holds for the record.
    pub(crate) held: bool,
    /// The outcomes of a group's rules, in order; empty for a rule.
    pub(crate) rules: Vec<Explanation>,
}

impl Explanation {
    /// Appends `{"pointer":…,"held":…,"rules":[…]}` to `out`. A rule has no member `rules`.
    pub(crate) fn write_json(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"pointer\":");
        json::write_string(&self.pointer, out);
        out.extend_from_slice(if self.held {
            b",\"held\":true"
        } else {
            b",\"held\":false"
        });
        if !self.rules.is_empty() {
            out.extend_from_slice(b",\"rules\":[");
            for (at, rule) in self.rules.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                rule.write_json(out);
            }
            out.push(b']');
        }
        out.push(b'}');
    }
}
