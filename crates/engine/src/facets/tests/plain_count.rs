//! Counts of random blocks against a simple count, record by record.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use crate::columns::{ColumnNames, Mask};
use crate::facets::tally::FacetTally;
use crate::facets::tests::support::{COLUMNS, Random, blocks};
use crate::facets::{Facet, FacetCounter};
use crate::record::OwnedValue;
use crate::runtime::StopCheck;
use crate::snapshot::Block;

/// The sort key of a value in the response's order, and the value as JSON.
fn ranked(value: &OwnedValue) -> Option<((u8, u64, String), Json)> {
    match value {
        OwnedValue::Null | OwnedValue::List(_) => None,
        OwnedValue::Boolean(value) => Some(((1, u64::from(*value), String::new()), json!(value))),
        OwnedValue::Number(number) => {
            // Maps doubles to integers of the same order: flips the sign bit, or all bits of a negative double.
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

/// The elements of a list, or else the value.
fn elements(value: &OwnedValue) -> &[OwnedValue] {
    match value {
        OwnedValue::List(elements) => elements,
        value => std::slice::from_ref(value),
    }
}

fn naive_values(found: &[Option<OwnedValue>], limit: usize) -> Json {
    let mut counts: BTreeMap<(u8, u64, String), (u64, Json)> = BTreeMap::new();
    let mut records = 0;
    for value in found.iter().flatten() {
        let distinct: BTreeMap<_, _> = elements(value).iter().filter_map(ranked).collect();
        records += u64::from(!distinct.is_empty());
        for (rank, json) in distinct {
            counts.entry(rank).or_insert((0, json)).0 += 1;
        }
    }
    let held: u64 = counts.values().map(|(count, _)| count).sum();
    let mut values: Vec<(u64, Json)> = counts.into_values().collect();
    // The sort is stable, so values with the same count keep the order of their ranks.
    values.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    values.truncate(limit);
    let listed: u64 = values.iter().map(|(count, _)| count).sum();
    let values: Vec<Json> = values
        .into_iter()
        .map(|(count, value)| json!({ "value": value, "count": count }))
        .collect();
    json!({ "values": values, "other": held - listed, "missing": found.len() as u64 - records })
}

/// The members of the response that are counts, with all numbers as doubles.
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
    // Two threads, so that their counts are merged.
    std::thread::scope(|scope| {
        for half in 0..2 {
            let counter = &counter;
            scope.spawn(move || {
                for (block, mask) in blocks.iter().zip(masks).skip(half).step_by(2) {
                    counter.count(block, mask).expect("few values");
                }
            });
        }
    });
    serde_json::from_slice(
        &counter
            .write(usize::MAX, &StopCheck::never())
            .expect("few intervals"),
    )
    .expect("JSON")
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
            let request = json!([
                { "column": column, "limit": limit },
                { "column": column, "type": "histogram", "interval": interval },
            ]);
            let response = count(&request, &blocks, &masks, &names);
            assert_eq!(
                counts(&response[0]),
                counts(&naive_values(&found, limit)),
                "round {round}, {column}"
            );

            // By definition, a bucket counts the numbers from its start up to, but not including, the next start.
            let numbers: Vec<Vec<f64>> = found
                .iter()
                .map(|value| {
                    let elements = value.iter().flat_map(elements);
                    let numbers = elements.filter_map(|element| match element {
                        OwnedValue::Number(number) => Some(*number),
                        _ => None,
                    });
                    numbers.collect()
                })
                .collect();
            let mut listed = vec![0; numbers.len()];
            for bucket in response[1]["buckets"].as_array().expect("a list") {
                let from = bucket["from"].as_f64().expect("a number");
                let k = (from / interval).round();
                let near = k.abs() < 4e15;
                let within = |number: &f64| {
                    if near {
                        k * interval <= *number && *number < (k + 1.0) * interval
                    } else {
                        *number == from
                    }
                };
                assert!(
                    !near || from == k * interval,
                    "round {round}, {column}: {from} is no multiple of {interval}"
                );
                let mut expected = 0;
                for (numbers, listed) in numbers.iter().zip(&mut listed) {
                    let found = numbers.iter().filter(|number| within(number)).count();
                    *listed += found;
                    expected += u64::from(found > 0);
                }
                assert_eq!(
                    bucket["count"], expected,
                    "round {round}, {column} by {interval} from {from}"
                );
                assert!(expected > 0, "empty intervals are left out");
            }
            let all: Vec<usize> = numbers.iter().map(Vec::len).collect();
            assert_eq!(listed, all, "round {round}, {column} by {interval}");
            let missing = numbers.iter().filter(|numbers| numbers.is_empty());
            assert_eq!(response[1]["missing"], missing.count() as u64);
        }
        for interval in ["day", "week", "month", "year"] {
            let request = json!([{ "time": "created", "interval": interval }, { "time": "changed", "interval": "minute" }]);
            let response = count(&request, &blocks, &masks, &names);
            let buckets = response[0]["buckets"].as_array().expect("a list");
            let starts: Vec<i64> = buckets
                .iter()
                .map(|bucket| {
                    crate::json::parse_time(bucket["from"].as_str().expect("a time"))
                        .expect("ISO 8601")
                        .milliseconds
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
            let minutes = response[1]["buckets"].as_array().expect("a list");
            assert!(
                minutes
                    .iter()
                    .all(|minute| minute["from"] == "2023-11-14T22:13:00.000Z")
            );
        }
    }
}

#[test]
fn a_record_that_counts_several_times_counts_as_so_many_records() {
    let mut random = Random(41);
    let mut names = ColumnNames::default();
    let blocks = blocks(&mut random, &[300, 1, 4_096], &mut names);
    let request: Vec<Json> = COLUMNS
        .into_iter()
        .flat_map(|column| {
            [
                json!({ "column": column, "limit": 100 }),
                json!({ "column": column, "type": "histogram", "interval": 37.0 }),
            ]
        })
        .chain([json!({ "time": "created", "interval": "month" })])
        .collect();
    for chunk in request.chunks(4) {
        let facets = Facet::parse_list(&json!(chunk)).expect("facets");
        let several = FacetCounter::bind(&facets, &names);
        let single = FacetCounter::bind(&facets, &names);
        for block in &blocks {
            let counts: Vec<u32> = (0..block.len())
                .map(|at| [0, 1, 2, 5, 11][(at + random.below(2)) % 5])
                .collect();
            several.count_many(block, &counts).expect("few values");
            for round in 0..11 {
                let has_round = |count: u32| count > round;
                single
                    .count(block, &Mask::of(&counts, &block.alive, has_round))
                    .expect("few values");
            }
        }
        let [several, single] = [several, single].map(|counter| {
            let response = counter.write(1 << 20, &StopCheck::never());
            String::from_utf8(response.expect("a response")).expect("JSON")
        });
        assert_eq!(several, single);
    }
}

#[test]
fn equal_facets_are_listed_as_each_asks() {
    let mut names = ColumnNames::default();
    let blocks = blocks(&mut Random(7), &[4096], &mut names);
    let count = |request: &Json| {
        let facets = Facet::parse_list(request).expect("facets");
        let counter = FacetCounter::bind(&facets, &names);
        counter
            .count(&blocks[0], &Mask::full(4096))
            .expect("little memory");
        let written = counter
            .write(usize::MAX, &StopCheck::never())
            .expect("written");
        serde_json::from_slice::<Json>(&written).expect("JSON")
    };
    let request = json!([
        { "column": "unique", "limit": 3 }, { "column": "unique", "limit": 7 }, { "column": "unique", "limit": 3 },
        { "time": "created", "interval": "day" }, { "column": "whole", "type": "histogram", "interval": 5 },
        { "time": "created", "interval": "day" }, { "column": "whole", "type": "histogram", "interval": 6 },
    ]);
    let alone = |at: usize| count(&json!([request[at]]));
    let all = count(&request);
    for at in 0..7 {
        assert_eq!(all[at], alone(at)[0], "facet {at}");
    }
}

#[test]
fn counts_that_take_too_much_memory_are_refused() {
    let mut names = ColumnNames::default();
    let blocks = blocks(&mut Random(7), &[4096; 4], &mut names);
    let facets = Facet::parse_list(&json!([{ "column": "unique" }])).expect("facets");
    let mut counter = FacetCounter::bind(&facets, &names);
    let count = |counter: &FacetCounter, at: usize| counter.count(&blocks[at], &Mask::full(4096));
    count(&counter, 0).expect("little memory");
    counter.memory.max_bytes = counter.memory.bytes() + 1_000;
    let refused = (1..4).find_map(|at| count(&counter, at).err());
    let refused = refused.expect("other texts take more memory");
    assert_eq!(refused.code(), "invalid_request");
    assert_eq!(refused.problems()[0].pointer, "/facets");
}

/// Counts `block` as so many threads do that all have tallies of their own.
fn count_at_once(counter: &FacetCounter, block: &Block, threads: usize) {
    let count = |tallies: &mut Vec<FacetTally>| {
        tallies[0].count(block, &Mask::full(4096));
        if threads > 1 {
            count_at_once(counter, block, threads - 1);
        }
    };
    counter.add(count).expect("little memory");
}

#[test]
fn many_threads_need_little_more_memory_than_one() {
    let mut names = ColumnNames::default();
    let blocks = blocks(&mut Random(7), &[4096], &mut names);
    let facets = Facet::parse_list(&json!([{ "column": "unique" }])).expect("facets");
    let alone = FacetCounter::bind(&facets, &names);
    alone
        .count(&blocks[0], &Mask::full(4096))
        .expect("little memory");
    let mut counter = FacetCounter::bind(&facets, &names);
    counter.memory.max_bytes = alone.memory.bytes() * 20;
    for _ in 0..8 {
        count_at_once(&counter, &blocks[0], 10);
    }
    assert!(counter.memory.bytes() < alone.memory.bytes() * 12);
    let written = |counter: &FacetCounter| {
        let written = counter.write(usize::MAX, &StopCheck::never());
        serde_json::from_slice::<Json>(&written.expect("written")).expect("JSON")
    };
    let (one, all) = (written(&alone), written(&counter));
    for (value, counted) in one[0]["values"]
        .as_array()
        .expect("values")
        .iter()
        .zip(all[0]["values"].as_array().expect("values"))
    {
        assert_eq!(value["value"], counted["value"]);
        let count = value["count"].as_u64().expect("a count");
        assert_eq!(counted["count"], count * 80);
    }
}
