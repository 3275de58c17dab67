//! Why a record passed a filter, or did not.

use crate::json;

/// The outcome of a rule or group for one record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trace {
    /// JSON pointer to the rule or group, relative to the filter.
    pub(crate) pointer: String,
    /// Whether it held.
    pub(crate) held: bool,
    /// The outcomes of a group's rules, in order; empty for a rule.
    pub(crate) rules: Vec<Trace>,
}

impl Trace {
    /// Appends it as JSON: `{"pointer":…,"held":…,"rules":[…]}`, without `rules` for a rule.
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
