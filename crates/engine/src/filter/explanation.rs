//! Why a record passed a filter or did not.

use crate::json;

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
