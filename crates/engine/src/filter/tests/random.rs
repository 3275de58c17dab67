//! Random records and filters.

use crate::columns::{ColumnNames, Columns, ColumnsBuilder};
use crate::filter::ast::{Condition, Group, Node, Operand, Operator, Rule};
use crate::json::parse_time;
use crate::record::{Data, OwnedValue};

pub(super) struct Random(pub(super) u64);

impl Random {
    /// An integer below `end`.
    pub(super) fn below(&mut self, end: usize) -> usize {
        // Xorshift64*, <https://doi.org/10.18637/jss.v008.i14>.
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize) % end
    }

    pub(super) fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
}

pub(super) const NUMBERS: [f64; 14] = [
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
pub(super) const PIECES: [&str; 10] = [
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

/// Times that are equal, next to each other, or far apart, and texts that are no times.
pub(super) const TIMES: [&str; 12] = [
    "2026-01-31",
    "2026-01-31T00:00Z",
    "2026-01-31T01:30:00.000000000+01:30",
    "2026-01-30T23:59:59.999999999Z",
    "2026-01-31T00:00:00.000000001Z",
    "2026-01-30T19:00-05:00",
    "2026-01-31T00:00:00.5Z",
    "0000-01-01",
    "9999-12-31T23:59:59.999999999Z",
    "2026-02-30",
    "2026-01-31 00:00Z",
    "2026-01",
];

pub(super) fn text(random: &mut Random, pieces: usize) -> String {
    (0..random.below(pieces + 1))
        .map(|_| random.of(&PIECES))
        .collect()
}

/// The distribution of the values of a column. The styles together use every encoding.
#[derive(Clone, Copy)]
pub(super) enum Style {
    Mixed,
    Small,
    Wide,
    Floats,
    Words,
    Prose,
    Booleans,
    Rare,
    Constant,
    Times,
    Lists,
    Tags,
    Long,
}

pub(super) const STYLES: [Style; 13] = [
    Style::Mixed,
    Style::Small,
    Style::Wide,
    Style::Floats,
    Style::Words,
    Style::Prose,
    Style::Booleans,
    Style::Rare,
    Style::Constant,
    Style::Times,
    Style::Lists,
    Style::Tags,
    Style::Long,
];

pub(super) fn value(random: &mut Random, style: Style) -> Option<OwnedValue> {
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
        Style::Times => match random.below(9) {
            0 => value(random, Style::Mixed),
            1 => Some(OwnedValue::Text(
                format!("20{:02}-05-05T00:00Z", random.below(60)).into(),
            )),
            _ => Some(OwnedValue::Text(random.of(&TIMES).into())),
        },
        Style::Lists if random.below(4) == 0 => value(random, Style::Mixed),
        Style::Lists => {
            let (style, len) = (random.of(&STYLES[..10]), random.of(&[0, 1, 2, 5]));
            list(random, style, len)
        }
        Style::Tags => {
            let len = random.below(6);
            list(random, Style::Words, len)
        }
        Style::Long if random.below(30) > 0 => list(random, Style::Small, 1),
        Style::Long => {
            let len = random.of(&[999, 1000]);
            list(random, Style::Mixed, len)
        }
    }
}

fn list(random: &mut Random, style: Style, len: usize) -> Option<OwnedValue> {
    let elements = (0..len).map(|_| comparable(random, style));
    Some(OwnedValue::List(elements.collect()))
}

pub(super) fn records(random: &mut Random, len: usize, styles: &[Style]) -> Vec<Data> {
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

pub(super) fn node(random: &mut Random, styles: &[Style], depth: usize) -> Node {
    if depth > 0 && random.below(3) == 0 {
        return Node::Group(group(random, styles, depth - 1));
    }
    // The last column exists in no record.
    let column = random.below(styles.len() + 1);
    let style = styles.get(column).copied().unwrap_or(Style::Mixed);
    let operator = random.of(&Operator::ALL).0;
    let operand = match operator {
        Operator::IsEmpty | Operator::IsNotEmpty => Operand::None,
        Operator::Equals | Operator::NotEquals => Operand::Value(comparable(random, style)),
        Operator::In | Operator::NotIn => {
            let count = random.of(&[1, 2, 7, 300]);
            Operand::List((0..count).map(|_| comparable(random, style)).collect())
        }
        Operator::Before | Operator::After | Operator::OnOrBefore | Operator::OnOrAfter => {
            time(random)
        }
        Operator::GreaterThan
        | Operator::LessThan
        | Operator::GreaterThanOrEquals
        | Operator::LessThanOrEquals => match value(random, style) {
            Some(OwnedValue::Number(number)) => {
                Operand::Value(OwnedValue::Number(number + random.of(&[0.0, 0.5, -0.5])))
            }
            _ => Operand::Value(OwnedValue::Number(random.of(&NUMBERS))),
        },
        _ => Operand::Value(OwnedValue::Text(text(random, 2).into())),
    };
    Node::Rule(Rule {
        column: format!("c{column}"),
        operator,
        operand,
    })
}

fn time(random: &mut Random) -> Operand {
    let time = parse_time(random.of(&TIMES));
    Operand::Time(time.unwrap_or_else(|_| parse_time("2026-02-01").expect("a date")))
}

/// A value that is not null, or an element of a list.
fn comparable(random: &mut Random, style: Style) -> OwnedValue {
    loop {
        match value(random, style) {
            None | Some(OwnedValue::Null) if random.below(2) == 0 => {
                return OwnedValue::Number(random.of(&NUMBERS));
            }
            None | Some(OwnedValue::Null) => {}
            Some(OwnedValue::List(elements)) => {
                if !elements.is_empty() {
                    return elements[random.below(elements.len())].clone();
                }
            }
            Some(value) => return value,
        }
    }
}

pub(super) fn group(random: &mut Random, styles: &[Style], depth: usize) -> Group {
    let condition = random.of(&[Condition::And, Condition::Or]);
    let mut rules: Vec<Node> = (0..1 + random.below(4))
        .map(|_| node(random, styles, depth))
        .collect();
    if random.below(4) == 0 {
        rules.extend(many_rules(random, styles));
    }
    Group { condition, rules }
}

/// Rules with one of two operators on one or two columns, some of them in groups of their own: they can be evaluated
/// together.
fn many_rules(random: &mut Random, styles: &[Style]) -> Vec<Node> {
    let operators = random.of(&[
        [Operator::Equals, Operator::Equals],
        [Operator::NotEquals, Operator::NotEquals],
        [Operator::Equals, Operator::NotEquals],
        [Operator::Equals, Operator::In],
        [Operator::NotIn, Operator::NotEquals],
        [Operator::Contains, Operator::NotContains],
        [Operator::StartsWith, Operator::EndsWith],
        [Operator::Before, Operator::OnOrBefore],
        [Operator::After, Operator::OnOrBefore],
    ]);
    let places: [usize; 2] = std::array::from_fn(|_| random.below(styles.len() + 1));
    let count = random.of(&[3, 8, 20, 200]);
    let rule = |random: &mut Random| {
        let operator = random.of(&operators);
        let column = random.of(&places);
        let style = styles.get(column).copied().unwrap_or(Style::Mixed);
        let takes_any = !matches!(
            operator,
            Operator::Contains | Operator::NotContains | Operator::StartsWith | Operator::EndsWith
        );
        let value = comparable(random, if takes_any { style } else { Style::Words });
        let rule = Node::Rule(Rule {
            column: format!("c{column}"),
            operator,
            operand: match operator {
                Operator::In | Operator::NotIn => {
                    Operand::List(vec![value, OwnedValue::Text("a".into())])
                }
                Operator::Before | Operator::After | Operator::OnOrBefore => time(random),
                _ => Operand::Value(value),
            },
        });
        match random.below(5) {
            0 => Node::Group(Group {
                condition: random.of(&[Condition::And, Condition::Or]),
                rules: vec![rule],
            }),
            _ => rule,
        }
    };
    (0..count).map(|_| rule(random)).collect()
}

pub(super) fn columns(records: &[Data], names: &mut ColumnNames) -> Columns {
    let mut builder = ColumnsBuilder::default();
    records
        .iter()
        .for_each(|record| builder.push_data(record, names));
    builder.finish()
}
