//! Facets against a plain count, a golden answer, and what a request may not ask.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value as Json, json};

use crate::columns::{ColumnNames, Mask};
use crate::facets::{Facet, FacetCounter};
use crate::record::{OwnedValue, RecordId, RecordRow, RecordUuid, ValidationCode};
use crate::snapshot::{Basis, Block, NewRow, Times};

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
}

const COLUMNS: [&str; 6] = ["mixed", "whole", "float", "word", "unique", "rare"];

/// A value for a column, so that every encoding of it is reached.
fn value(random: &mut Random, column: usize) -> Option<OwnedValue> {
    let text = |text: String| Some(OwnedValue::Text(text.into()));
    match column {
        0 => match random.below(9) {
            0 => None,
            1 => Some(OwnedValue::Null),
            2 => Some(OwnedValue::Boolean(random.below(2) == 0)),
            3 => Some(OwnedValue::Number(
                [0.0, 1.0, -1.5, 0.3, 1e300, 9e15, 1e16][random.below(7)],
            )),
            4 => text(["", "1", "true", "null", "é"][random.below(5)].to_owned()),
            5 => Some(OwnedValue::Number(random.below(4) as f64)),
            _ => text(format!("v{}", random.below(30))),
        },
        1 => {
            let end = if random.below(50) == 0 { 1 << 40 } else { 300 };
            Some(OwnedValue::Number(random.below(end) as f64 - 20.0))
        }
        2 => Some(OwnedValue::Number(random.below(5000) as f64 / 8.0 - 100.0)),
        3 => text(format!("word {}", random.below(12))),
        4 => text(format!(
            "a longer text that most records have alone {}",
            random.below(100_000)
        )),
        _ if random.below(40) > 0 => None,
        _ => value(random, 0),
    }
}

fn blocks(random: &mut Random, lens: &[usize], names: &mut ColumnNames) -> Vec<Block> {
    let basis = Arc::new(Basis::identity(8));
    let mut first = 0;
    let mut block = |len: &usize| {
        let rows: Vec<NewRow> = (0..*len)
            .map(|at| {
                let mut time = || -40_000_000_000 + random.below(1 << 31) as i64 * 900;
                let times = Times {
                    created: time(),
                    changed: 1_700_000_000_000,
                    synced: time(),
                };
                let cells = COLUMNS.iter().enumerate().filter_map(|(column, name)| {
                    value(random, column).map(|value| (names.insert(name), value))
                });
                let (cells, id) = (cells.collect(), RecordId((first + at + 1) as u64));
                let vector = vec![1 << 30, 0, 0, 0, 0, 0, 0, 0];
                NewRow {
                    id,
                    uuid: RecordUuid([0; 16]),
                    times,
                    cells,
                    vector,
                }
            })
            .collect();
        first += len;
        Block::build(RecordRow((first - len) as u32), 8, &rows, &basis)
    };
    lens.iter().map(&mut block).collect()
}

/// A value by its rank in the response's order, and as JSON.
fn ranked(value: &OwnedValue) -> Option<((u8, u64, String), Json)> {
    match value {
        OwnedValue::Null => None,
        OwnedValue::Boolean(value) => Some(((1, u64::from(*value), String::new()), json!(value))),
        OwnedValue::Number(number) => {
            // Doubles in their order as integers: the sign bit flipped, or all bits of a negative one.
            let bits = number.to_bits();
            let order = if bits >> 63 == 1 {
                !bits
            } else {
                bits | 1 << 63
            };
            Some(((2, order, String::new()), json!(number)))
        }
        OwnedValue::Text(text) => Some(((3, 0, text.to_string()), json!(text))),
    }
}

fn naive_values(found: &[Option<OwnedValue>], limit: usize) -> Json {
    let mut counts: BTreeMap<(u8, u64, String), (u64, Json)> = BTreeMap::new();
    for (rank, json) in found.iter().flatten().filter_map(ranked) {
        counts.entry(rank).or_insert((0, json)).0 += 1;
    }
    let held: u64 = counts.values().map(|(count, _)| count).sum();
    let mut values: Vec<(u64, Json)> = counts.into_values().collect();
    // Stable: values of one count stay in the order of their ranks.
    values.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    values.truncate(limit);
    let listed: u64 = values.iter().map(|(count, _)| count).sum();
    let values: Vec<Json> = values
        .into_iter()
        .map(|(count, value)| json!({ "value": value, "count": count }))
        .collect();
    json!({ "values": values, "other": held - listed, "missing": found.len() as u64 - held })
}

/// Members of the response that are counts, numbers all as doubles.
fn counts(json: &Json) -> Json {
    let mut json = json.clone();
    let members = json.as_object_mut().expect("a facet is an object");
    members.retain(|name, _| matches!(name.as_str(), "values" | "other" | "missing" | "buckets"));
    for name in ["values", "buckets"] {
        for entry in members
            .get_mut(name)
            .and_then(Json::as_array_mut)
            .into_iter()
            .flatten()
        {
            for member in ["value", "from"] {
                if let Some(number) = entry.get(member).and_then(Json::as_f64) {
                    entry[member] = json!(number);
                }
            }
        }
    }
    json
}

fn count(facets: &Json, blocks: &[Block], masks: &[Mask], names: &ColumnNames) -> Vec<Json> {
    let facets = Facet::parse_list(facets).expect("they parse");
    let counter = FacetCounter::bind(&facets, names);
    // Two threads, so that tallies are merged.
    std::thread::scope(|scope| {
        for half in 0..2 {
            let counter = &counter;
            scope.spawn(move || {
                for (block, mask) in blocks.iter().zip(masks).skip(half).step_by(2) {
                    counter.count(block, mask);
                }
            });
        }
    });
    serde_json::from_slice(&counter.write(usize::MAX).expect("few intervals")).expect("JSON")
}

#[test]
fn facets_equal_a_plain_count() {
    let seed = 0x5eed_0f4c;
    println!("seed {seed:#x}");
    let random = &mut Random(seed);
    for round in 0..12 {
        let mut names = ColumnNames::default();
        let lens: Vec<usize> = (0..1 + random.below(5))
            .map(|_| [1, 64, 700, 4096][random.below(4)])
            .collect();
        let blocks = blocks(random, &lens, &mut names);
        let share = [1, 2, 30][random.below(3)];
        let masks: Vec<Mask> = lens
            .iter()
            .map(|len| (0..*len).filter(|_| random.below(share) == 0).collect())
            .collect();
        let matching: Vec<(&Block, usize)> = blocks
            .iter()
            .zip(&masks)
            .flat_map(|(block, mask)| mask.iter().map(move |slot| (block, slot)))
            .collect();

        for column in COLUMNS.into_iter().chain(["never seen"]) {
            let found: Vec<Option<OwnedValue>> = matching
                .iter()
                .map(|(block, slot)| {
                    Some(block.body.columns.value(*slot, names.id(column)?)?.into())
                })
                .collect();
            let limit = [1, 10, 100][random.below(3)];
            let interval = [0.1, 1.0, 37.0, 1e12][random.below(4)];
            let asked = json!([
                { "column": column, "limit": limit },
                { "column": column, "type": "histogram", "interval": interval },
            ]);
            let answer = count(&asked, &blocks, &masks, &names);
            assert_eq!(
                counts(&answer[0]),
                counts(&naive_values(&found, limit)),
                "round {round}, {column}"
            );

            // The definition itself: each bucket holds what lies from its start to before the next.
            let numbers: Vec<f64> = found
                .iter()
                .filter_map(|value| match value {
                    Some(OwnedValue::Number(number)) => Some(*number),
                    _ => None,
                })
                .collect();
            let mut counted = 0;
            for bucket in answer[1]["buckets"].as_array().expect("a list") {
                let from = bucket["from"].as_f64().expect("a number");
                let k = (from / interval).round();
                let near = k.abs() < 4e15;
                let within = |number: &&f64| {
                    if near {
                        k * interval <= **number && **number < (k + 1.0) * interval
                    } else {
                        **number == from
                    }
                };
                assert!(
                    !near || from == k * interval,
                    "round {round}, {column}: {from} is no multiple of {interval}"
                );
                let expected = numbers.iter().filter(within).count() as u64;
                assert_eq!(
                    bucket["count"], expected,
                    "round {round}, {column} by {interval} from {from}"
                );
                assert!(expected > 0, "empty intervals are left out");
                counted += expected;
            }
            assert_eq!(
                counted,
                numbers.len() as u64,
                "round {round}, {column} by {interval}"
            );
            assert_eq!(answer[1]["missing"], (found.len() - numbers.len()) as u64);
        }
        for interval in ["day", "week", "month", "year"] {
            let asked = json!([{ "time": "created", "interval": interval }, { "time": "changed", "interval": "minute" }]);
            let answer = count(&asked, &blocks, &masks, &names);
            let buckets = answer[0]["buckets"].as_array().expect("a list");
            let starts: Vec<i64> = buckets
                .iter()
                .map(|bucket| {
                    crate::json::parse_time(bucket["from"].as_str().expect("a time"))
                        .expect("ISO 8601")
                })
                .collect();
            assert!(starts.is_sorted());
            let mut expected = vec![0_u64; starts.len()];
            for (block, slot) in &matching {
                let time = block.body.created.get(*slot);
                let at = starts
                    .partition_point(|start| *start <= time)
                    .checked_sub(1)
                    .expect("no time is before all");
                let length = match interval {
                    "day" => 1,
                    "week" => 7,
                    "month" => 31,
                    _ => 366,
                };
                assert!(
                    time - starts[at] < length * 86_400_000,
                    "{time} is not in the {interval} {}",
                    starts[at]
                );
                expected[at] += 1;
            }
            let counts: Vec<u64> = buckets
                .iter()
                .map(|bucket| bucket["count"].as_u64().expect("a count"))
                .collect();
            assert_eq!(counts, expected, "round {round}, {interval}");
            let minutes = answer[1]["buckets"].as_array().expect("a list");
            assert!(
                minutes
                    .iter()
                    .all(|minute| minute["from"] == "2023-11-14T22:13:00.000Z")
            );
        }
    }
}

/// Three towers, with all that a facet shows.
#[test]
fn the_golden_answer() {
    let mut names = ColumnNames::default();
    let (country, height, open) = (
        names.insert("country"),
        names.insert("height_m"),
        names.insert("open"),
    );
    let text = |text: &str| OwnedValue::Text(text.into());
    let cells = [
        vec![
            (country, text("France")),
            (height, OwnedValue::Number(330.0)),
            (open, OwnedValue::Boolean(true)),
        ],
        vec![
            (country, text("UAE")),
            (height, OwnedValue::Number(828.0)),
            (open, text("true")),
        ],
        vec![
            (country, text("France")),
            (height, OwnedValue::Number(-0.5)),
            (open, OwnedValue::Number(1.0)),
        ],
        vec![(country, OwnedValue::Null), (height, text("tall"))],
    ];
    // The last second of a leap year's February, its first of March, a Monday's midnight, a Sunday.
    let times = [1_709_251_199_999, 1_709_251_200_000, 1_709_510_400_000, -1];
    let rows: Vec<NewRow> = (1..)
        .zip(cells.into_iter().zip(times))
        .map(|(id, (cells, time))| NewRow {
            id: RecordId(id),
            uuid: RecordUuid([id as u8; 16]),
            times: Times {
                created: time,
                changed: time,
                synced: time,
            },
            cells,
            vector: vec![1 << 30, 0, 0, 0, 0, 0, 0, 0],
        })
        .collect();
    let block = Block::build(RecordRow(0), 8, &rows, &Arc::new(Basis::identity(8)));
    let facets = Facet::parse_list(&json!([
        { "column": "country", "limit": 1 },
        { "column": "open" },
        { "column": "height_m", "type": "histogram", "interval": 250 },
        { "time": "synced", "interval": "month" },
        { "time": "created", "interval": "week" },
    ]))
    .expect("they parse");
    let counter = FacetCounter::bind(&facets, &names);
    counter.count(&block, &Mask::full(4));
    let answer =
        String::from_utf8(counter.write(usize::MAX).expect("few intervals")).expect("UTF-8");
    let expected = [
        r#"[{"column":"country","type":"values","values":[{"value":"France","count":2}],"other":1,"missing":1}"#,
        r#"{"column":"open","type":"values","values":[{"value":true,"count":1},{"value":1,"count":1},{"value":"true","count":1}],"other":0,"missing":1}"#,
        r#"{"column":"height_m","type":"histogram","interval":250,"buckets":[{"from":-250,"count":1},{"from":250,"count":1},{"from":750,"count":1}],"missing":1}"#,
        r#"{"time":"synced","interval":"month","buckets":[{"from":"1969-12-01T00:00:00.000Z","count":1},{"from":"2024-02-01T00:00:00.000Z","count":1},{"from":"2024-03-01T00:00:00.000Z","count":2}]}"#,
        r#"{"time":"created","interval":"week","buckets":[{"from":"1969-12-29T00:00:00.000Z","count":1},{"from":"2024-02-26T00:00:00.000Z","count":2},{"from":"2024-03-04T00:00:00.000Z","count":1}]}]"#,
    ];
    assert_eq!(answer, expected.join(","));
}

#[test]
fn too_many_intervals_are_refused_with_the_facet() {
    let mut names = ColumnNames::default();
    let lens = [4096, 4096, 4096];
    let blocks = blocks(&mut Random(7), &lens, &mut names);
    let facets = json!([{ "column": "whole" }, { "time": "created", "interval": "minute" }]);
    let counter = FacetCounter::bind(&Facet::parse_list(&facets).expect("they parse"), &names);
    blocks
        .iter()
        .for_each(|block| counter.count(block, &Mask::full(4096)));
    let problems = counter
        .write(usize::MAX)
        .expect_err("12,288 records, nearly a minute each")
        .problems();
    assert_eq!(problems[0].pointer, "/facets/1/interval");
}

/// One block of records with these numbers in the column `a` and these times of creation.
fn block_of(numbers: &[f64], created: &[i64]) -> (ColumnNames, Block) {
    let mut names = ColumnNames::default();
    let column = names.insert("a");
    let rows: Vec<NewRow> = (1..)
        .zip(numbers.iter().zip(created))
        .map(|(id, (&number, &created))| NewRow {
            id: RecordId(id),
            uuid: RecordUuid([id as u8; 16]),
            times: Times {
                created,
                changed: created,
                synced: created,
            },
            cells: vec![(column, OwnedValue::Number(number))],
            vector: vec![1 << 30, 0, 0, 0, 0, 0, 0, 0],
        })
        .collect();
    let basis = Arc::new(Basis::identity(8));
    (names, Block::build(RecordRow(0), 8, &rows, &basis))
}

fn counted(facets: &Json, names: &ColumnNames, block: &Block) -> Result<Json, crate::Error> {
    let facets = Facet::parse_list(facets).expect("they parse");
    let counter = FacetCounter::bind(&facets, names);
    counter.count(block, &Mask::full(block.len()));
    let json = counter.write(usize::MAX)?;
    Ok(serde_json::from_slice(&json).expect("an answer is JSON"))
}

#[test]
fn every_interval_begins_with_a_value_that_a_filter_takes() {
    let first = crate::json::parse_time("0000-01-01").expect("a time");
    let last = crate::json::parse_time("9999-12-31T23:59:59.999Z").expect("a time");
    let (names, block) = block_of(
        &[-1.7e308, 1.7e308, 0.0],
        &[first, last, first + 5 * 86_400_000],
    );
    for interval in ["minute", "hour", "day", "week", "month", "year"] {
        let facets = json!([{ "time": "created", "interval": interval }]);
        let told = counted(&facets, &names, &block).expect("few intervals");
        let buckets = told[0]["buckets"].as_array().expect("a list");
        for bucket in buckets {
            let from = bucket["from"].as_str().expect("a time");
            let from = crate::json::parse_time(from).expect("a time that is accepted");
            assert!((first..=last).contains(&from), "{bucket}");
        }
        let counts: Vec<_> = buckets
            .iter()
            .map(|bucket| bucket["count"].as_u64())
            .collect();
        let alone = ["minute", "hour", "day", "week"].contains(&interval);
        let expected = if alone {
            vec![Some(1); 3]
        } else {
            vec![Some(2), Some(1)]
        };
        assert_eq!(counts, expected, "{interval}");
    }

    let histogram = |interval: f64| json!([{ "column": "a" }, { "column": "a", "type": "histogram", "interval": interval }]);
    // -1.7e308 is in the interval from -2e308, which no double holds.
    let error = counted(&histogram(1e308), &names, &block).expect_err("no such bound");
    assert_eq!(error.code(), "invalid_request");
    assert_eq!(error.problems()[0].pointer, "/facets/1/interval");
    for interval in [1.7e308, f64::MAX, 1e300, 1.0, f64::MIN_POSITIVE, 5e-324] {
        let told = counted(&histogram(interval), &names, &block);
        let told = told.expect("bounds that doubles hold");
        for bucket in told[1]["buckets"].as_array().expect("a list") {
            let from = bucket["from"].as_f64().expect("a number");
            assert!(from.is_finite(), "{interval}: {bucket}");
        }
    }
    let (names, block) = block_of(&[1.7e308, -1e308], &[0, 0]);
    let told = counted(&histogram(1e308), &names, &block).expect("both begin at doubles");
    let expected = json!([{ "from": -1e308, "count": 1 }, { "from": 1e308, "count": 1 }]);
    assert_eq!(told[1]["buckets"], expected);
}

#[test]
fn bad_facets_are_refused_with_their_pointers() {
    use ValidationCode::{InvalidColumn, InvalidValue, MissingMember, UnknownMember, WrongType};
    for (facets, expected) in [
        (json!({}), vec![("/facets", InvalidValue)]),
        (json!([]), vec![("/facets", InvalidValue)]),
        (
            json!(vec![json!({ "column": "a" }); 17]),
            vec![("/facets", InvalidValue)],
        ),
        (
            json!([{ "column": "a" }, 7]),
            vec![("/facets/1", WrongType)],
        ),
        (json!([{}]), vec![("/facets/0", MissingMember)]),
        (
            json!([{ "column": "" }]),
            vec![("/facets/0/column", InvalidColumn)],
        ),
        (
            json!([{ "column": 1 }]),
            vec![("/facets/0/column", InvalidValue)],
        ),
        (
            json!([{ "column": "a", "limit": 0 }]),
            vec![("/facets/0/limit", InvalidValue)],
        ),
        (
            json!([{ "column": "a", "limit": 101 }]),
            vec![("/facets/0/limit", InvalidValue)],
        ),
        (
            json!([{ "column": "a", "limit": "5" }]),
            vec![("/facets/0/limit", InvalidValue)],
        ),
        (
            json!([{ "column": "a", "type": "range" }]),
            vec![("/facets/0/type", InvalidValue)],
        ),
        (
            json!([{ "column": "a", "interval": 5 }]),
            vec![("/facets/0/interval", UnknownMember)],
        ),
        (
            json!([{ "column": "a", "type": "histogram" }]),
            vec![("/facets/0", MissingMember)],
        ),
        (
            json!([{ "column": "a", "type": "histogram", "interval": 0 }]),
            vec![("/facets/0/interval", InvalidValue)],
        ),
        (
            json!([{ "time": "synced", "interval": "decade" }]),
            vec![("/facets/0/interval", InvalidValue)],
        ),
        (
            json!([{ "time": "seen", "column": "a" }]),
            vec![
                ("/facets/0/column", UnknownMember),
                ("/facets/0/time", InvalidValue),
                ("/facets/0", MissingMember),
            ],
        ),
    ] {
        let problems = Facet::parse_list(&facets)
            .expect_err("it is bad")
            .problems();
        let found: Vec<_> = problems
            .iter()
            .map(|problem| (problem.pointer.as_str(), problem.code))
            .collect();
        assert_eq!(found, expected, "{facets}");
    }
}
