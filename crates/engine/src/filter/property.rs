//! Random records and filters: blocks, single records and a plain reading of the rules agree.

use crate::columns::{ColumnNames, Columns, ColumnsBuilder, Mask};
use crate::filter::ast::{Condition, Filter, Group, Node, Operator, Rule};
use crate::record::{Data, OwnedValue};
use crate::runtime::StopCheck;

struct Random(u64);

impl Random {
    /// Below `end`.
    fn below(&mut self, end: usize) -> usize {
        // Xorshift64*, <https://doi.org/10.18637/jss.v008.i14>.
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize) % end
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
}

const NUMBERS: [f64; 14] = [
    0.0,
    1.0,
    -1.0,
    2.5,
    255.0,
    256.0,
    -70_000.0,
    5e9,
    9_007_199_254_740_992.0,
    -9_007_199_254_740_992.0,
    1e300,
    -0.1,
    f64::MAX,
    5e-324,
];
const PIECES: [&str; 10] = [
    "",
    "a",
    "ab",
    "b",
    "aab",
    "é",
    "𝄞",
    "\0",
    "A",
    "lorem ipsum ",
];

fn text(random: &mut Random, pieces: usize) -> String {
    (0..random.below(pieces + 1))
        .map(|_| random.of(&PIECES))
        .collect()
}

/// How the values of a column are drawn: each encoding is reached.
#[derive(Clone, Copy)]
enum Style {
    Mixed,
    Small,
    Wide,
    Floats,
    Words,
    Prose,
    Booleans,
    Rare,
    Constant,
}

const STYLES: [Style; 9] = [
    Style::Mixed,
    Style::Small,
    Style::Wide,
    Style::Floats,
    Style::Words,
    Style::Prose,
    Style::Booleans,
    Style::Rare,
    Style::Constant,
];

fn value(random: &mut Random, style: Style) -> Option<OwnedValue> {
    let number = |number: f64| Some(OwnedValue::Number(number));
    match style {
        Style::Mixed => match random.below(7) {
            0 => None,
            1 => Some(OwnedValue::Null),
            2 => Some(OwnedValue::Boolean(random.below(2) == 0)),
            3 | 4 => number(random.of(&NUMBERS)),
            _ => Some(OwnedValue::Text(text(random, 2).into())),
        },
        Style::Small => number(random.below(300) as f64 - 20.0),
        Style::Wide => number((random.below(1 << 31) * random.below(1 << 20)) as f64),
        Style::Floats => number(random.below(1000) as f64 / 8.0),
        Style::Words => Some(OwnedValue::Text(text(random, 2).into())),
        Style::Prose if random.below(9) == 0 => None,
        Style::Prose => Some(OwnedValue::Text(text(random, 12).into())),
        Style::Booleans => Some(OwnedValue::Boolean(random.below(3) == 0)),
        Style::Rare if random.below(30) > 0 => None,
        Style::Rare => value(random, Style::Mixed),
        Style::Constant => Some(OwnedValue::Text("always".into())),
    }
}

fn records(random: &mut Random, len: usize, styles: &[Style]) -> Vec<Data> {
    let record = |random: &mut Random| {
        let mut cells: Vec<(Box<str>, OwnedValue)> = Vec::new();
        for (at, &style) in styles.iter().enumerate() {
            let name = format!("c{at}").into();
            cells.extend(value(random, style).map(|value| (name, value)));
        }
        if cells.len() > 1 && random.below(4) == 0 {
            cells.swap(0, 1);
        }
        Data::new(cells)
    };
    (0..len).map(|_| record(random)).collect()
}

fn node(random: &mut Random, styles: &[Style], depth: usize) -> Node {
    if depth > 0 && random.below(3) == 0 {
        return Node::Group(group(random, styles, depth - 1));
    }
    // One column beyond those that exist.
    let column = random.below(styles.len() + 1);
    let style = styles.get(column).copied().unwrap_or(Style::Mixed);
    let operator = random.of(&Operator::ALL).0;
    let value = match operator {
        Operator::IsEmpty | Operator::IsNotEmpty => None,
        Operator::Equals | Operator::NotEquals => loop {
            match value(random, style) {
                None | Some(OwnedValue::Null) if random.below(2) == 0 => {
                    break Some(OwnedValue::Number(random.of(&NUMBERS)));
                }
                None | Some(OwnedValue::Null) => {}
                some => break some,
            }
        },
        Operator::GreaterThan
        | Operator::LessThan
        | Operator::GreaterThanOrEquals
        | Operator::LessThanOrEquals => match value(random, style) {
            Some(OwnedValue::Number(number)) => {
                Some(OwnedValue::Number(number + random.of(&[0.0, 0.5, -0.5])))
            }
            _ => Some(OwnedValue::Number(random.of(&NUMBERS))),
        },
        _ => Some(OwnedValue::Text(text(random, 2).into())),
    };
    Node::Rule(Rule {
        column: format!("c{column}"),
        operator,
        value,
    })
}

fn group(random: &mut Random, styles: &[Style], depth: usize) -> Group {
    let condition = random.of(&[Condition::And, Condition::Or]);
    let rules = (0..1 + random.below(4))
        .map(|_| node(random, styles, depth))
        .collect();
    Group { condition, rules }
}

/// The rules as semantics.md states them, read off one record.
fn reads(group: &Group, data: &Data) -> bool {
    let holds = |node: &Node| match node {
        Node::Group(group) => reads(group, data),
        Node::Rule(rule) => rule_reads(rule, data.get(&rule.column)),
    };
    match group.condition {
        Condition::And => group.rules.iter().all(holds),
        Condition::Or => group.rules.iter().any(holds),
    }
}

fn rule_reads(rule: &Rule, found: Option<&OwnedValue>) -> bool {
    use OwnedValue::{Null, Number, Text};
    let same = || found.is_some_and(|found| Some(found) == rule.value.as_ref());
    let numbers = |test: fn(&f64, &f64) -> bool| match (found, &rule.value) {
        (Some(Number(found)), Some(Number(value))) => test(found, value),
        _ => false,
    };
    let texts = |test: fn(&str, &str) -> bool| match (found, &rule.value) {
        (Some(Text(found)), Some(Text(value))) => test(found, value),
        _ => false,
    };
    let empty = || match found {
        None | Some(Null) => true,
        Some(Text(text)) => text.is_empty(),
        Some(_) => false,
    };
    match rule.operator {
        Operator::Equals => same(),
        Operator::NotEquals => !same(),
        Operator::GreaterThan => numbers(f64::gt),
        Operator::LessThan => numbers(f64::lt),
        Operator::GreaterThanOrEquals => numbers(f64::ge),
        Operator::LessThanOrEquals => numbers(f64::le),
        Operator::Contains => texts(|found, value| found.contains(value)),
        Operator::NotContains => !texts(|found, value| found.contains(value)),
        Operator::StartsWith => texts(|found, value| found.starts_with(value)),
        Operator::EndsWith => texts(|found, value| found.ends_with(value)),
        Operator::IsEmpty => empty(),
        Operator::IsNotEmpty => !empty(),
    }
}

fn columns(records: &[Data], names: &mut ColumnNames) -> Columns {
    let mut builder = ColumnsBuilder::default();
    records
        .iter()
        .for_each(|record| builder.push_data(record, names));
    builder.finish()
}

fn assert_holds(columns: &Columns, records: &[Data], names: &ColumnNames) {
    assert_eq!(columns.len(), records.len());
    let names: Vec<&str> = names.iter().map(|(_, name)| name).collect();
    for (slot, record) in records.iter().enumerate() {
        let cells: Vec<_> = columns
            .cells(slot)
            .map(|(id, value)| (names[id.0 as usize], OwnedValue::from(value)))
            .collect();
        let expected: Vec<_> = record
            .cells()
            .iter()
            .map(|(name, value)| (&**name, value.clone()))
            .collect();
        assert_eq!(cells, expected, "record {slot}");
    }
}

#[test]
fn masks_single_records_and_a_plain_reading_agree() {
    let seed = 0x5eed_0001;
    println!("seed {seed:#x}");
    let random = &mut Random(seed);
    let stop_check = &StopCheck::never();
    for round in 0..60 {
        let len = random.of(&[1, 5, 63, 64, 65, 700, 4096]);
        let styles: Vec<Style> = (0..1 + random.below(6))
            .map(|_| random.of(&STYLES))
            .collect();
        let records = records(random, len, &styles);
        let mut names = ColumnNames::default();
        let columns = columns(&records, &mut names);
        for _ in 0..40 {
            let filter = Filter {
                root: group(random, &styles, 3),
            };
            let bound = filter.bind(&names);
            let mut within = Mask::full(len);
            if random.below(2) == 0 {
                let keep = random.of(&[1, 2, 50]);
                (0..len)
                    .filter(|_| random.below(keep) > 0)
                    .collect::<Vec<_>>()
                    .iter()
                    .for_each(|&slot| within.clear(slot));
            }
            let mask = bound.mask(&columns, &within, stop_check).expect("no stop");
            let (cheap, lazy) = bound.split(&columns, stop_check).expect("no stop");
            for (slot, record) in records.iter().enumerate() {
                let expected = reads(&filter.root, record);
                let context = || format!("round {round}, record {slot} {record:?}, {filter:?}");
                assert_eq!(
                    mask.get(slot),
                    expected && within.get(slot),
                    "mask: {}",
                    context()
                );
                assert_eq!(
                    bound.matches(&columns, slot, stop_check),
                    Ok(expected),
                    "single: {}",
                    context()
                );
                let parts = cheap.matches(&columns, slot, stop_check) == Ok(true)
                    && lazy
                        .as_ref()
                        .is_none_or(|lazy| lazy.matches(&columns, slot, stop_check) == Ok(true));
                assert_eq!(parts, expected, "split: {}", context());
            }
        }
    }
}

#[test]
fn the_file_form_and_join_keep_every_cell() {
    let seed = 0x5eed_0002;
    println!("seed {seed:#x}");
    let random = &mut Random(seed);
    for _ in 0..40 {
        let styles: Vec<Style> = (0..random.below(7)).map(|_| random.of(&STYLES)).collect();
        let mut names = ColumnNames::default();
        let len = random.of(&[0, 1, 2, 64, 333, 2048]);
        let first = records(random, len, &styles);
        let len = random.of(&[0, 1, 100, 2048]);
        let second = records(random, len, &styles);
        let (a, b) = (columns(&first, &mut names), columns(&second, &mut names));
        assert_holds(&a, &first, &names);

        let mut bytes = Vec::new();
        a.write(&mut bytes);
        let read = Columns::read(&bytes).expect("own form");
        assert_holds(&read, &first, &names);
        let mut again = Vec::new();
        read.write(&mut again);
        assert!(again == bytes, "the file form is the same after reading");

        let both = [first.as_slice(), second.as_slice()].concat();
        assert_holds(&Columns::join(&[&a, &b]), &both, &names);
    }
}

#[test]
fn damaged_bytes_never_panic() {
    let seed = 0x5eed_0003;
    println!("seed {seed:#x}");
    let random = &mut Random(seed);
    let mut refused = 0;
    for _ in 0..30 {
        let styles: Vec<Style> = (0..1 + random.below(5))
            .map(|_| random.of(&STYLES))
            .collect();
        let len = random.of(&[1, 3, 64, 150]);
        let records = records(random, len, &styles);
        let mut names = ColumnNames::default();
        let mut form = Vec::new();
        columns(&records, &mut names).write(&mut form);
        for _ in 0..400 {
            let mut bytes = form.clone();
            for _ in 0..1 + random.below(3) {
                let at = random.below(bytes.len());
                match random.below(4) {
                    0 => bytes[at] ^= 1 << random.below(8),
                    1 => bytes[at] = random.of(&[0, 1, 2, 4, 8, 0x7f, 0x80, 0xff]),
                    2 => bytes.truncate(at.max(1)),
                    _ => bytes.insert(at, random.below(256) as u8),
                }
            }
            let Ok(read) = Columns::read(&bytes) else {
                refused += 1;
                continue;
            };
            // What is let through may say something else, but everything about it must work.
            for slot in 0..read.len() {
                let _ = read.cells(slot).count();
            }
            for id in read.ids() {
                let _ = read.column_stats(id);
            }
            for _ in 0..4 {
                let bound = Filter {
                    root: group(random, &styles, 1),
                }
                .bind(&names);
                let _ = bound.mask(&read, &Mask::full(read.len()), &StopCheck::never());
            }
        }
    }
    assert!(refused > 1000, "most damage is noticed: {refused}");
}
