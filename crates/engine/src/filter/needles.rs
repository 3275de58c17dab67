//! Many substrings that are searched in one pass.

use std::sync::{Arc, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use hashbrown::HashMap;
use memchr::memmem::Finder;

use crate::columns::{ColumnId, Columns, Mask, Texts};
use crate::runtime::{StopCheck, Stopped};

/// Fewer needles are searched one after the other.
const MIN_NEEDLES: usize = 16;

/// Bytes of a needle's beginning that the automaton looks for. The whole needle would make it large: a page of memory
/// for a few bytes of each needle.
const BEGINNING: usize = 32;

/// Rough nanoseconds that the automaton takes for a byte of text …
const SCAN_COST: f64 = 3.0;
/// … and to be built, for a byte of a beginning.
const BUILD_COST: f64 = 100.0;

/// How many of the needles a text must contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    Any,
    All,
}

/// The `contains` or the `not_contains` rules of one group on one column.
#[derive(Clone, Debug)]
pub(super) struct Needles {
    column: Option<ColumnId>,
    need: Need,
    /// Whether the records that lack what is needed pass.
    negated: bool,
    finders: Vec<Arc<Finder<'static>>>,
    /// Built when a text is first worth it.
    beginnings: Arc<OnceLock<Option<Beginnings>>>,
}

/// Finds the needles whose beginning is in a text.
#[derive(Debug)]
struct Beginnings {
    automaton: AhoCorasick,
    /// The needles with each beginning.
    needles: Vec<Vec<usize>>,
}

impl Needles {
    /// `None` where there are too few. No needle may be empty.
    pub(super) fn new(
        column: Option<ColumnId>,
        need: Need,
        negated: bool,
        finders: Vec<Arc<Finder<'static>>>,
    ) -> Option<Self> {
        (finders.len() >= MIN_NEEDLES).then(|| Self {
            column,
            need,
            negated,
            finders,
            beginnings: Arc::default(),
        })
    }

    pub(super) fn column(&self) -> Option<ColumnId> {
        self.column
    }

    /// The records of `within` that pass.
    pub(super) fn mask(
        &self,
        columns: &Columns,
        within: &Mask,
        stop_check: &StopCheck<'_>,
    ) -> Result<Mask, Stopped> {
        let held = match self.column.and_then(|id| columns.column(id)) {
            None => Mask::empty(),
            Some(column) => column.by_row(within, |rows| match column.texts(rows) {
                Some((texts, rows)) => self.rows(texts, &rows, stop_check),
                None => Ok(Mask::empty()),
            })?,
        };
        if !self.negated {
            return Ok(held);
        }
        Ok(within.without(&held))
    }

    /// Whether a record passes whose text in the column is `text`, if it has one.
    pub(super) fn holds(
        &self,
        text: Option<&str>,
        stop_check: &StopCheck<'_>,
    ) -> Result<bool, Stopped> {
        let held = match text {
            None => false,
            Some(text) => {
                let bytes = text.as_bytes();
                match self.beginnings_for(bytes.len()) {
                    Some(beginnings) => {
                        Search::new(self, beginnings).contained(bytes, stop_check)?
                    }
                    None => self.contained_one_by_one(bytes, stop_check)?,
                }
            }
        };
        Ok(held != self.negated)
    }

    /// What [`Needles::mask`] costs on a block, in rough nanoseconds.
    pub(super) fn cost(&self, columns: &Columns) -> f64 {
        let text = self.column.and_then(|id| columns.column(id)?.text());
        let bytes = text.map_or(0, Texts::searched_bytes) as f64;
        let (together, apart) = self.costs(bytes);
        1000.0 + together.min(apart)
    }

    /// The costs of one pass and of a pass for each needle.
    fn costs(&self, bytes: f64) -> (f64, f64) {
        let needles = self.finders.len() as f64;
        let build = match self.beginnings.get() {
            Some(_) => 0.0,
            None => BUILD_COST * BEGINNING as f64 * needles,
        };
        (
            build + SCAN_COST * bytes,
            needles * super::test::contains_cost(bytes),
        )
    }

    /// What finds the needles in one pass, where that is worth it for so many bytes of text.
    fn beginnings_for(&self, bytes: usize) -> Option<&Beginnings> {
        let (together, apart) = self.costs(bytes as f64);
        if together > apart {
            return None;
        }
        self.beginnings
            .get_or_init(|| Beginnings::of(&self.finders))
            .as_ref()
    }

    fn rows(
        &self,
        texts: &Texts,
        within: &Mask,
        stop_check: &StopCheck<'_>,
    ) -> Result<Mask, Stopped> {
        let Some(beginnings) = self.beginnings_for(texts.searched_bytes()) else {
            return self.rows_one_by_one(texts, within, stop_check);
        };
        let mut search = Search::new(self, beginnings);
        texts.by_entry(within, |strings, rows| {
            let mut out = Mask::empty();
            for row in rows.iter() {
                if search.contained(strings.bytes(row), stop_check)? {
                    out.set(row);
                }
            }
            Ok(out)
        })
    }

    fn rows_one_by_one(
        &self,
        texts: &Texts,
        within: &Mask,
        stop_check: &StopCheck<'_>,
    ) -> Result<Mask, Stopped> {
        let mut left = within.clone();
        for finder in &self.finders {
            if left.is_empty() {
                break;
            }
            let held = texts.containing(finder, &left, stop_check)?;
            match self.need {
                Need::Any => left.and_not(&held),
                Need::All => left = held,
            }
        }
        if self.need == Need::All {
            return Ok(left);
        }
        Ok(within.without(&left))
    }

    fn contained_one_by_one(
        &self,
        text: &[u8],
        stop_check: &StopCheck<'_>,
    ) -> Result<bool, Stopped> {
        for finder in &self.finders {
            stop_check.before_testing(text.len())?;
            let found = finder.find(text).is_some();
            if found != (self.need == Need::All) {
                return Ok(found);
            }
        }
        Ok(self.need == Need::All)
    }
}

impl Beginnings {
    /// `None` for more than an automaton takes.
    fn of(finders: &[Arc<Finder<'static>>]) -> Option<Self> {
        let mut places: HashMap<&[u8], usize> = HashMap::new();
        let mut needles: Vec<Vec<usize>> = Vec::new();
        let mut patterns = Vec::new();
        for (at, finder) in finders.iter().enumerate() {
            let needle = finder.needle();
            let beginning = &needle[..needle.len().min(BEGINNING)];
            let place = *places.entry(beginning).or_insert_with(|| {
                patterns.push(beginning);
                needles.push(Vec::new());
                needles.len() - 1
            });
            needles[place].push(at);
        }
        // A table of all transitions would take a kilobyte for each byte of a beginning.
        let automaton = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(patterns)
            .ok()?;
        Some(Self { automaton, needles })
    }
}

/// A search of one text after the other.
struct Search<'a> {
    needles: &'a Needles,
    beginnings: &'a Beginnings,
    /// The text that each beginning was last found in, by number.
    found_in: Vec<u32>,
    text: u32,
}

impl<'a> Search<'a> {
    fn new(needles: &'a Needles, beginnings: &'a Beginnings) -> Self {
        Self {
            needles,
            beginnings,
            found_in: vec![0; beginnings.needles.len()],
            text: 0,
        }
    }

    /// Whether the text contains what is needed.
    fn contained(&mut self, text: &[u8], stop_check: &StopCheck<'_>) -> Result<bool, Stopped> {
        self.text += 1;
        stop_check.before_testing(text.len())?;
        let mut missing = self.needles.finders.len();
        for found in self.beginnings.automaton.find_overlapping_iter(text) {
            let beginning = found.pattern().as_usize();
            if self.found_in[beginning] == self.text {
                continue;
            }
            self.found_in[beginning] = self.text;
            for &at in &self.beginnings.needles[beginning] {
                let finder = &self.needles.finders[at];
                let whole = finder.needle().len() <= BEGINNING || {
                    // Its first occurrence begins no earlier than its beginning's.
                    let rest = &text[found.start()..];
                    stop_check.before_testing(rest.len())?;
                    finder.find(rest).is_some()
                };
                match (self.needles.need, whole) {
                    (Need::Any, true) => return Ok(true),
                    (Need::All, false) => return Ok(false),
                    (Need::Any, false) | (Need::All, true) => missing -= 1,
                }
            }
            if missing == 0 {
                break;
            }
        }
        Ok(self.needles.need == Need::All && missing == 0)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::columns::{ColumnNames, ColumnsBuilder};
    use crate::filter::ast::{Condition, Filter, Group, Node, Operator, Rule};
    use crate::record::{Data, OwnedValue};

    fn next(random: &mut u64) -> usize {
        // Xorshift64*, <https://doi.org/10.18637/jss.v008.i14>.
        *random ^= *random >> 12;
        *random ^= *random << 25;
        *random ^= *random >> 27;
        (random.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize
    }

    /// Few letters and long repetitions: beginnings are shared, and occurrences overlap.
    fn word(random: &mut u64, pieces: usize) -> String {
        (0..next(random) % (pieces + 1))
            .map(|_| {
                [
                    "a",
                    "ab",
                    "ba",
                    "é",
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                ][next(random) % 5]
            })
            .collect()
    }

    fn texts(random: &mut u64, count: usize, pieces: usize) -> Vec<Option<String>> {
        let distinct: Vec<String> = (0..40).map(|_| word(random, pieces)).collect();
        let coded = next(random).is_multiple_of(2);
        (0..count)
            .map(|_| match next(random) % 10 {
                0 => None,
                _ if coded => Some(distinct[next(random) % distinct.len()].clone()),
                _ => Some(word(random, pieces)),
            })
            .collect()
    }

    fn filter(needles: &[String], operator: Operator, condition: Condition) -> Filter {
        let rules = needles.iter().map(|needle| {
            Node::Rule(Rule {
                column: "text".into(),
                operator,
                value: Some(OwnedValue::Text(needle.as_str().into())),
            })
        });
        Filter {
            root: Group {
                condition,
                rules: rules.collect(),
            },
        }
    }

    #[test]
    fn many_needles_are_found_as_each_is_alone() {
        let seed = 0x5eed_0004;
        println!("seed {seed:#x}");
        let random = &mut { seed };
        let stop_check = &StopCheck::never();
        let mut together = 0;
        for round in 0..60 {
            let pieces = [3, 30, 1000, 1000][next(random) % 4];
            let count = [1, 64, 300][next(random) % 3];
            let texts = texts(random, count, pieces);
            let mut names = ColumnNames::default();
            let mut builder = ColumnsBuilder::default();
            for text in &texts {
                let cells = text.as_ref().map(|text| {
                    let text: Box<str> = text.as_str().into();
                    ("text".into(), OwnedValue::Text(text))
                });
                builder.push_data(&Data::new(cells.into_iter().collect()), &mut names);
            }
            let columns = builder.finish();
            let needles: Vec<String> = (0..1 + next(random) % 400)
                .map(|_| match texts[next(random) % texts.len()].as_deref() {
                    // What is in a text, or nearly.
                    Some(text) if !text.is_empty() && next(random).is_multiple_of(2) => {
                        let from = text.floor_char_boundary(next(random) % text.len());
                        let mut part = text[from..].to_owned();
                        if next(random).is_multiple_of(4) {
                            part.push('x');
                        }
                        part
                    }
                    _ => word(random, 4),
                })
                .collect();
            for (operator, negated) in [(Operator::Contains, false), (Operator::NotContains, true)]
            {
                for condition in [Condition::And, Condition::Or] {
                    let bound = filter(&needles, operator, condition).bind(&names);
                    let within: Mask = (0..count)
                        .filter(|slot| slot % 7 > 0 || count == 1)
                        .collect();
                    let mask = bound.mask(&columns, &within, stop_check).expect("no stop");
                    for (slot, text) in texts.iter().enumerate() {
                        let mut rules = needles.iter().map(|needle| {
                            text.as_ref().is_some_and(|text| text.contains(needle)) != negated
                        });
                        let expected = match condition {
                            Condition::And => rules.all(|holds| holds),
                            Condition::Or => rules.any(|holds| holds),
                        };
                        let context =
                            format!("round {round}, {operator:?} {condition:?}, slot {slot}");
                        assert_eq!(mask.get(slot), expected && within.get(slot), "{context}");
                        let held = bound.matches(&columns, slot, stop_check);
                        assert_eq!(held, Ok(expected), "{context}");
                    }
                }
            }
            let finders = needles.iter().filter(|needle| !needle.is_empty());
            let finders = finders.map(|needle| Arc::new(Finder::new(needle).into_owned()));
            let column = names.id("text");
            if let Some(needles) = Needles::new(column, Need::Any, false, finders.collect()) {
                let text = column.and_then(|id| columns.column(id)?.text());
                let bytes = text.map_or(0, Texts::searched_bytes);
                together += usize::from(needles.beginnings_for(bytes).is_some());
            }
        }
        assert!(
            (5..55).contains(&together),
            "both ways are taken: {together} of 60"
        );
    }

    #[test]
    fn a_stop_flag_ends_the_search() {
        let mut names = ColumnNames::default();
        let mut builder = ColumnsBuilder::default();
        for at in 0..64 {
            let text: Box<str> = format!("{at} lorem ipsum").repeat(4096).into();
            let cells = vec![("text".into(), OwnedValue::Text(text))];
            builder.push_data(&Data::new(cells), &mut names);
        }
        let columns = builder.finish();
        for count in [1, 10, 400] {
            let needles: Vec<String> = (0..count).map(|at| format!("dolor {at}")).collect();
            let bound = filter(&needles, Operator::Contains, Condition::Or).bind(&names);
            let stop = AtomicBool::new(true);
            let stopped = bound.mask(&columns, &Mask::full(64), &StopCheck::new(&stop));
            assert_eq!(stopped, Err(Stopped), "{count} needles");
        }
    }
}
