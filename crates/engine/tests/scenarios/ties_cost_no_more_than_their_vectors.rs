use std::collections::BTreeMap;
use std::time::Instant;

use serde_json::{Value, json};

use crate::common::{
    Known, Oracle, Random, Server, Vectors, hits, in_full, random_data, random_filter, time,
};

const HOUR: i64 = 3_600_000;

/// A unit vector near `centre`: their cosine is about 0.995 for a distance of 0.1.
fn near(centre: &[f32], distance: f32, random: &mut Random) -> Vec<f32> {
    let noise: Vec<f32> = centre.iter().map(|_| random.normal()).collect();
    let length = |vector: &[f32]| vector.iter().map(|part| part * part).sum::<f32>().sqrt();
    let scale = distance * length(centre) / length(&noise);
    let parts = centre.iter().zip(&noise);
    parts.map(|(part, noise)| part + scale * noise).collect()
}

/// Records of which half have one of three vectors, and a quarter have a vector near one of these.
fn records(ids: std::ops::Range<u64>, vectors: &Vectors, random: &mut Random) -> Vec<Known> {
    let mut of_copies = Random::new(77);
    let copies: Vec<Vec<f32>> = (0..3).map(|_| vectors.draw(&mut of_copies)).collect();
    ids.map(|id| {
        let copy = random.pick(&copies).clone();
        let vector = match random.below(4) {
            0 | 1 => copy,
            2 => near(&copy, 0.02, random),
            _ => vectors.draw(random),
        };
        let mut data = random_data(random);
        data.insert("kind".into(), json!(random.below(5)));
        Known::new(id, data, vector, random.below(600) as i64 * HOUR)
    })
    .collect()
}

/// A query that is often the vector of a record, so that many records tie in the first places.
fn query(oracle: &Oracle, vectors: &Vectors, random: &mut Random) -> Vec<f32> {
    let at = random.below(oracle.records.len());
    let known = oracle.records.values().nth(at).expect("not empty");
    match random.below(3) {
        0 => vectors.draw(random),
        1 => known.vector.clone(),
        _ => near(&known.vector, 0.1, random),
    }
}

/// Compares pages, totals and facets with the oracle.
fn check(server: &Server, oracle: &Oracle, vectors: &Vectors, random: &mut Random) {
    let mut request = json!({
        "form": random.pick(&["uuid", "integer"]),
        "threshold": random.pick(&[0.0, 0.2, 0.7, 1.0]),
        "limit": random.pick(&[1, 10, 50, 100]),
        "total": random.chance(50),
    });
    if random.chance(50) {
        request["filter"] = random_filter(random, 2);
    }
    if random.chance(25) {
        request["time_range"] = json!({ "start_time": time(random.below(600) as i64 * HOUR) });
    }
    if random.chance(30) {
        request["facets"] = json!([{ "column": "kind" }]);
    }
    let query = query(oracle, vectors, random);
    let expected = oracle.search(&request, &query);
    let mut found = Vec::new();
    for _ in 0..8 {
        let page = server.search("db", &request, &query);
        if request["total"] == true {
            assert_eq!(page["total"]["value"], json!(expected.len()), "{request}");
        }
        if request["facets"].is_array() {
            check_facet(oracle, &page, &request, &query);
        }
        found.extend(hits(&page));
        let Some(cursor) = page["pagination"].get("next_cursor") else {
            assert_eq!(found.len(), expected.len(), "{request}");
            break;
        };
        request["cursor"] = cursor.clone();
    }
    assert_eq!(found, expected[..found.len()], "{request}");
}

fn check_facet(oracle: &Oracle, page: &Value, request: &Value, query: &[f32]) {
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    for hit in oracle.search(request, query) {
        let kind = hit["data"]["kind"].as_u64().expect("a kind");
        *counts.entry(kind).or_default() += 1;
    }
    let values = page["facets"][0]["values"].as_array().expect("values");
    let found: BTreeMap<u64, u64> = values
        .iter()
        .map(|value| {
            (
                value["value"].as_u64().expect("a number"),
                value["count"].as_u64().expect("a count"),
            )
        })
        .collect();
    assert_eq!(found, counts, "{request}");
}

#[test]
fn and_every_page_total_and_facet_is_right() {
    let mut random = Random::new(0x71e5);
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    server.create("db", 32);
    let vectors = Vectors::new(32, &mut random);
    let mut oracle = Oracle::default();
    server.put_known("db", &mut oracle, records(1..9_000, &vectors, &mut random));
    for round in 0..4 {
        for _ in 0..in_full(25, 5) {
            check(&server, &oracle, &vectors, &mut random);
        }
        // Some records are replaced, others are new.
        let from = 1 + random.below(8_000) as u64;
        let changed = records(from..from + 900, &vectors, &mut random);
        server.put_known("db", &mut oracle, changed);
        let deleted: Vec<u64> = oracle
            .records
            .keys()
            .copied()
            .filter(|id| id % 7 == round)
            .collect();
        deleted.iter().for_each(|id| {
            oracle.records.remove(id);
        });
        server
            .delete("db", &json!({ "form": "integer", "ids": deleted }))
            .expect("deleted");
    }
    server.close();
    let server = Server::open(directory.path());
    for _ in 0..in_full(25, 5) {
        check(&server, &oracle, &vectors, &mut random);
    }
    server.close();
}

/// The work of a search, from its explanation.
fn work(server: &Server, request: &Value, query: &[f32]) -> Value {
    let mut request = request.clone();
    request["explain"] = json!(true);
    server.search("db", &request, query)["explain"].clone()
}

#[test]
fn because_equal_vectors_are_scored_once() {
    let mut random = Random::new(0x71e6);
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    server.create("db", 32);
    let copy = Vectors::new(32, &mut random).draw(&mut random);
    let same = (1..=20_000).map(|id| Known::new(id, random_data(&mut random), copy.clone(), 0));
    server.put("db", &same.collect::<Vec<_>>());
    let other = near(&copy, 0.3, &mut random);
    for request in [
        json!({ "limit": 50 }),
        json!({ "limit": 50, "total": true }),
        json!({ "limit": 100, "threshold": 0.5 }),
    ] {
        let explain = work(&server, &request, &other);
        let scored = explain["scored"].as_u64().expect("a number");
        // One score for each of the blocks, of which a few may be small.
        assert!(scored < 20, "{explain}");
    }
    server.close();
}

#[test]
fn and_a_record_stands_for_the_others_although_it_fails_the_filter() {
    let mut random = Random::new(0x71e8);
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    server.create("db", 8);
    let vectors = Vectors::new(8, &mut random);
    let copies: Vec<Vec<f32>> = (0..3).map(|_| vectors.draw(&mut random)).collect();
    let mut oracle = Oracle::default();
    let records = (1..=9_000).map(|id| {
        let colour = ["red", "green", "blue"][id as usize % 3];
        let data = json!({ "text": format!("{colour} number {id}") });
        let data = data.as_object().expect("an object").clone();
        Known::new(id, data, copies[id as usize / 3 % 3].clone(), 0)
    });
    server.put_known("db", &mut oracle, records.collect());
    // Such rules are evaluated on the best records only, unless the same rule was evaluated before.
    for value in ["red nu", "ed num", "d numb", "green ", "een nu", "n numb"] {
        let rule = json!({ "column": "text", "operator": "contains", "value": value });
        let filter = json!({ "condition": "AND", "rules": [rule] });
        let request = json!({ "form": "integer", "threshold": 0, "limit": 5, "filter": filter });
        let query = near(&copies[0], 0.3, &mut random);
        let page = server.search("db", &request, &query);
        assert_eq!(
            hits(&page),
            oracle.search(&request, &query)[..5],
            "{request}"
        );
    }
    server.close();
}

#[test]
fn and_codes_along_an_axis_decide_between_near_ties() {
    let mut random = Random::new(0x71e7);
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    server.create("db", 128);
    let centre: Vec<f32> = (0..128).map(|_| random.normal()).collect();
    let mut oracle = Oracle::default();
    let close = (1..=12_000).map(|id| {
        let vector = near(&centre, 0.1, &mut random);
        Known::new(id, serde_json::Map::new(), vector, 0)
    });
    server.put_known("db", &mut oracle, close.collect());
    let query = near(&centre, 0.1, &mut random);
    let request = json!({ "form": "integer", "threshold": 0 });
    let start = Instant::now();
    loop {
        server.check("db", &oracle, &request, &query);
        let explain = work(&server, &request, &query);
        if explain["rotated"] == 12_000 {
            let scored = explain["scored"].as_u64().expect("a number");
            assert!(
                scored < 1_500,
                "most records are ruled out by their codes: {explain}"
            );
            break;
        }
        assert!(
            start.elapsed().as_secs() < 120,
            "no basis was learned: {explain}"
        );
    }
    // The other way round, the axis is as far away as it can be.
    let opposite: Vec<f32> = query.iter().map(|part| -part).collect();
    for query in [&opposite, &near(&centre, 2.0, &mut random)] {
        for total in [false, true] {
            let request = json!({ "form": "uuid", "threshold": 0, "total": total });
            server.check("db", &oracle, &request, query);
        }
    }
    server.close();
    let server = Server::open(directory.path());
    server.check("db", &oracle, &request, &query);
    assert_eq!(
        work(&server, &request, &query)["rotated"],
        12_000,
        "the basis is kept"
    );
    server.close();
}
