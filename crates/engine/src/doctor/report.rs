//! The report of an examination: one line per check.

use serde_json::{Value, json};

use crate::store::{Findings, Problem};

/// The lines of a report, JSON, in the order of the checks.
#[derive(Debug)]
pub(super) struct Report<'a> {
    /// The id in each line.
    database: &'a str,
    pub(super) lines: Vec<Value>,
}

impl<'a> Report<'a> {
    pub(super) fn new(database: &'a str) -> Self {
        let lines = Vec::new();
        Self { database, lines }
    }

    /// Adds a check that found nothing; `detail` says what was checked.
    pub(super) fn ok(&mut self, check: &str, detail: impl Into<String>) {
        self.add(check, "ok", detail.into());
    }

    /// Adds the outcome of a check: `detail` if it found nothing, else the problems with `advice`.
    pub(super) fn check(
        &mut self,
        check: &str,
        findings: Findings,
        detail: impl Into<String>,
        advice: &str,
    ) {
        if findings.is_empty() {
            return self.ok(check, detail);
        }
        let line = self.add(check, "problem", summary(&findings.problems));
        line["problems"] = findings.problems.iter().map(problem).collect();
        line["advice"] = advice.into();
    }

    /// Adds a check whose problem is not that of a record.
    pub(super) fn problem(&mut self, check: &str, problem: String, advice: &str) {
        let mut findings = Findings::default();
        findings.add(problem);
        self.check(check, findings, "", advice);
    }

    /// Adds a check whose problems were repaired; `repair` says how.
    pub(super) fn repaired(&mut self, check: &str, findings: Findings, repair: &str) {
        let detail = format!("{}; {repair}", summary(&findings.problems));
        let line = self.add(check, "repaired", detail);
        line["problems"] = findings.problems.iter().map(problem).collect();
    }

    fn add(&mut self, check: &str, status: &str, detail: String) -> &mut Value {
        let database = self.database;
        self.lines.push(json!({
            "check": check, "database": database, "status": status, "detail": detail,
        }));
        let last = self.lines.len() - 1;
        &mut self.lines[last]
    }
}

fn problem(problem: &Problem) -> Value {
    let mut value = json!({ "detail": problem.what });
    if problem.records > 0 {
        value["records"] = problem.records.into();
        value["ids"] = problem.ids.clone().into();
    }
    value
}

fn summary(problems: &[Problem]) -> String {
    let text = |problem: &Problem| match problem.records {
        0 => problem.what.clone(),
        records => {
            let ids: Vec<String> = problem.ids.iter().map(u64::to_string).collect();
            let more = if records > problem.ids.len() as u64 {
                ", …"
            } else {
                ""
            };
            let plural = if records == 1 { "" } else { "s" };
            format!(
                "{} ({records} record{plural}: {}{more})",
                problem.what,
                ids.join(", ")
            )
        }
    };
    problems.iter().map(text).collect::<Vec<_>>().join("; ")
}
