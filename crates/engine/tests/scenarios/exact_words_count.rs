use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use cosift_engine::Error;

use crate::common::{
    Known, Oracle, Random, Server, Vectors, assert_same, hits, in_full, random_boosts, random_data,
    random_filter, stop_flag, time,
};

const HOUR: i64 = 3_600_000;

const WORDS: [&str; 24] = [
    "the",
    "of",
    "editor",
    "editors",
    "image",
    "images",
    "gcc",
    "g++",
    "libgtk",
    "libgtk3",
    "libgtk-3-0",
    "firefox",
    "postgresql",
    "postgres",
    "python3.11",
    "kernel",
    "Crème",
    "brûlée",
    "creme",
    "日本語",
    "naïve",
    "a",
    "text",
    "tool",
];

/// Texts of searches, some of them hostile.
fn random_text(random: &mut Random) -> String {
    match random.below(12) {
        0 => random
            .pick(&["++", "#", "\u{0}", "日", "a", "e\u{301}", "  ", "👩‍👩‍👧"])
            .to_string(),
        1 => "firefox ".repeat(1_000),
        2 => "x".repeat(8_000),
        3 => random
            .pick(&[
                "firefxo",
                "psotgresql",
                "libgkt",
                "postgresqll",
                "kernol",
                "fire",
                "post",
            ])
            .to_string(),
        _ => words(random, 5),
    }
}

fn words(random: &mut Random, max: usize) -> String {
    let words: Vec<&str> = (0..=random.below(max))
        .map(|_| *random.pick(&WORDS))
        .collect();
    words.join([" ", "-", ", "][random.below(3)])
}

fn data(random: &mut Random) -> Map<String, Value> {
    let mut data = random_data(random);
    data.insert("name".into(), json!(words(random, 2)));
    if random.chance(80) {
        data.insert("description".into(), json!(words(random, 14)));
    }
    if random.chance(1) {
        data.insert("long".into(), json!("same word ".repeat(3_000)));
    }
    data
}

fn records(first: u64, count: usize, vectors: &Vectors, random: &mut Random) -> Vec<Known> {
    let mut made: Vec<Known> = Vec::with_capacity(count);
    for id in first..first + count as u64 {
        // Scores tie where both the vector and the words are those of another record.
        let (vector, data) = match made.len() {
            len if len > 0 && random.chance(15) => {
                let other = &made[random.below(len)];
                (other.vector.clone(), other.data.clone())
            }
            _ => (vectors.draw(random), data(random)),
        };
        let at = random.below(600) as i64 * HOUR;
        made.push(Known::new(id, data, vector, at));
    }
    made
}

fn random_request(random: &mut Random) -> Value {
    let threshold = [0.0, 0.1, 0.2, 0.5, 0.7, 1.0][random.below(6)];
    let weight = [0.0, 1e-9, 0.1, 0.3, 0.5, 0.9, 1.0][random.below(7)];
    let mut request = json!({
        "form": random.pick(&["uuid", "integer", "both"]),
        "threshold": threshold,
        "limit": random.pick(&[1, 2, 10, 50, 100]),
        "total": random.chance(40),
        "lexical": { "weight": weight, "text": random_text(random), "prefix": random.chance(50) },
    });
    if random.chance(50) {
        request["filter"] = random_filter(random, 2);
    }
    if random.chance(30) {
        request["boosts"] = random_boosts(random, 1.0 - weight);
    }
    if random.chance(25) {
        request["time_range"] = json!({ "start_time": time(random.below(600) as i64 * HOUR) });
    }
    request
}

fn check(server: &Server, oracle: &Oracle, vectors: &Vectors, random: &mut Random, rounds: usize) {
    for _ in 0..rounds {
        let request = random_request(random);
        server.check("db", oracle, &request, &vectors.draw(random));
    }
}

fn create(server: &Server, dimensions: usize) {
    let settings = json!({ "model": null, "dimensions": dimensions, "lexical": true });
    server.create_with("db", &settings).expect("created");
}

#[test]
fn with_changes_deletions_and_restarts() {
    let mut random = Random::new(1);
    let directory = tempfile::tempdir().expect("a directory");
    let mut server = Server::open(directory.path());
    create(&server, 16);
    let vectors = Vectors::new(16, &mut random);
    let mut oracle = Oracle::default();
    for (first, count) in [(1, 1), (2, 40), (50, 3_000), (4_000, 7_000)] {
        let new = records(first, count, &vectors, &mut random);
        server.put_known("db", &mut oracle, new);
        check(&server, &oracle, &vectors, &mut random, in_full(40, 10));
        let changed = records(first, count.div_ceil(5), &vectors, &mut random);
        server.put_known("db", &mut oracle, changed);
        let deleted: Vec<u64> = (0..count / 10)
            .map(|_| first + random.below(count) as u64)
            .collect();
        oracle.records.retain(|id, _| !deleted.contains(id));
        server
            .delete("db", &json!({ "ids": deleted }))
            .expect("deleted");
        check(&server, &oracle, &vectors, &mut random, in_full(30, 10));
        server.close();
        server = Server::open(directory.path());
        check(&server, &oracle, &vectors, &mut random, in_full(30, 10));
    }
    server.close();
}

#[test]
fn with_codes_of_a_learned_basis_and_an_estimated_floor() {
    let mut random = Random::new(2);
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    create(&server, 64);
    let vectors = Vectors::new(64, &mut random);
    let mut oracle = Oracle::default();
    server.put_known("db", &mut oracle, records(1, 34_000, &vectors, &mut random));
    let rounds = in_full(60, 8);
    check(&server, &oracle, &vectors, &mut random, rounds);
    let start = Instant::now();
    while server.describe("db")["lexical_records"] != json!(34_000) {
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "the words are not indexed"
        );
        std::thread::yield_now();
    }
    check(&server, &oracle, &vectors, &mut random, rounds);
    server.close();
}

#[test]
fn on_pages_that_are_walked_to_the_end_while_others_write() {
    let mut random = Random::new(3);
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    create(&server, 8);
    let vectors = Vectors::new(8, &mut random);
    let mut oracle = Oracle::default();
    server.put_known("db", &mut oracle, records(1, 6_000, &vectors, &mut random));
    for round in 0..12 {
        let mut request = random_request(&mut random);
        request["limit"] = json!(97);
        request["threshold"] = json!(0.3);
        let query = vectors.draw(&mut random);
        let expected = oracle.search(&request, &query);
        let mut found = Vec::new();
        loop {
            let page = server.search("db", &request, &query);
            if request["total"] == true && round % 2 == 0 {
                assert_eq!(page["total"]["value"], json!(expected.len()), "{request}");
            }
            found.extend(hits(&page));
            let Some(cursor) = page["pagination"]["next_cursor"].as_str() else {
                break;
            };
            request["cursor"] = json!(cursor);
            if round % 2 == 1 {
                // A record that is written elsewhere moves no score: it is removed again before the next round.
                let other = records(100_000 + round, 3, &vectors, &mut random);
                server.put("db", &other);
                let ids: Vec<u64> = other.iter().map(|record| record.id).collect();
                server
                    .delete("db", &json!({ "ids": ids }))
                    .expect("deleted");
            }
        }
        assert_same(&found, &expected, &request);
    }
    server.close();
}

#[test]
fn for_searches_of_different_weights_that_share_a_scan() {
    let mut random = Random::new(4);
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::with_threads(directory.path(), 3);
    create(&server, 16);
    let vectors = Vectors::new(16, &mut random);
    let mut oracle = Oracle::default();
    server.put_known("db", &mut oracle, records(1, 9_000, &vectors, &mut random));
    for _ in 0..in_full(8, 2) {
        let searches: Vec<(Value, Vec<f32>)> = (0..40)
            .map(|_| (random_request(&mut random), vectors.draw(&mut random)))
            .collect();
        let pending: Vec<_> = searches
            .iter()
            .map(|(request, query)| server.start_search("db", request, query, stop_flag()))
            .collect();
        for (pending, (request, query)) in pending.into_iter().zip(&searches) {
            let page: Value =
                serde_json::from_slice(&pending.wait().expect("found").body).expect("JSON");
            let limit = request["limit"].as_u64().expect("a limit") as usize;
            let expected = oracle.ranking(request, query).shown(limit);
            assert_same(&hits(&page), &expected, request);
        }
    }
    server.close();
}

#[test]
fn facets_count_the_matches_of_both_parts() {
    let mut random = Random::new(5);
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    create(&server, 8);
    let vectors = Vectors::new(8, &mut random);
    let mut oracle = Oracle::default();
    server.put_known("db", &mut oracle, records(1, 5_000, &vectors, &mut random));
    for _ in 0..20 {
        let request = random_request(&mut random);
        let query = vectors.draw(&mut random);
        server.check_facet(&oracle, &request, &query, "colour");
        server.check("db", &oracle, &request, &query);
    }
    server.close();
}

#[test]
fn the_setting_can_be_switched_on_and_off_later() {
    let mut random = Random::new(6);
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    server.create("db", 8);
    let vectors = Vectors::new(8, &mut random);
    let mut oracle = Oracle::default();
    server.put_known("db", &mut oracle, records(1, 5_000, &vectors, &mut random));
    let request = json!({ "lexical": { "weight": 0.3, "text": "image editor" } });
    let query = vectors.draw(&mut random);
    let error = server
        .try_search("db", &request, &query)
        .expect_err("refused");
    assert!(error.to_string().contains("\"lexical\": true"), "{error}");
    let none = json!({ "lexical": { "weight": 0, "text": "image editor" } });
    server.check("db", &oracle, &none, &query);

    let on = json!({ "model": null, "dimensions": 8, "lexical": true });
    server.configure("db", &on).expect("switched on");
    assert_eq!(server.describe("db")["lexical"], true);
    check(&server, &oracle, &vectors, &mut random, 20);
    let off = json!({ "model": null, "dimensions": 8 });
    server.configure("db", &off).expect("switched off");
    assert_eq!(server.describe("db")["sizes"]["lexical_bytes"], 0);
    server
        .try_search("db", &request, &query)
        .expect_err("refused");
    // A search that began before has the words or is refused, and leaves no index.
    for _ in 0..30 {
        server.configure("db", &on).expect("switched on again");
        let pending = server.start_search("db", &request, &query, stop_flag());
        server.configure("db", &off).expect("switched off again");
        if let Ok(page) = pending.wait() {
            let page: Value = serde_json::from_slice(&page.body).expect("JSON");
            assert_same(
                &hits(&page),
                &oracle.ranking(&request, &query).shown(50),
                &request,
            );
        }
        assert_eq!(server.describe("db")["sizes"]["lexical_bytes"], 0);
    }
    server.configure("db", &on).expect("switched on again");
    server.close();

    let server = Server::open(directory.path());
    assert_eq!(server.describe("db")["lexical"], true);
    assert!(server.describe("db")["sizes"]["lexical_bytes"].is_u64());
    check(&server, &oracle, &vectors, &mut random, 20);
    let other = json!({ "model": null, "dimensions": 9, "lexical": true });
    let refused = server.configure("db", &other);
    assert!(matches!(refused, Err(Error::Stale)), "{refused:?}");
    server.close();
}

#[test]
fn columns_have_weights_that_can_be_changed() {
    let mut random = Random::new(7);
    let directory = tempfile::tempdir().expect("a directory");
    let mut server = Server::open(directory.path());
    let settings = |lexical: &Value| json!({ "model": null, "dimensions": 8, "lexical": lexical });
    let lexical = |weights: &Value| match weights {
        Value::Null => json!(true),
        weights => json!({ "columns": weights }),
    };
    let first = json!({ "name": 3, "description": 1 });
    (server.create_with("db", &settings(&lexical(&first)))).expect("created");
    let vectors = Vectors::new(8, &mut random);
    let mut oracle = Oracle::default();
    server.put_known("db", &mut oracle, records(1, 5_000, &vectors, &mut random));
    let weights = [
        first,
        json!({ "description": 100, "name": 7, "long": 1, "absent": 2 }),
        Value::Null,
        json!({ "name": 1 }),
        json!({ "name": 2, "description": 2 }),
    ];
    for weights in weights {
        let of = settings(&lexical(&weights));
        server.configure("db", &of).expect("changed");
        assert_eq!(server.describe("db")["lexical"], lexical(&weights));
        oracle.word_weights = weights;
        check(&server, &oracle, &vectors, &mut random, in_full(60, 10));
        let new = records(6_000, 300, &vectors, &mut random);
        server.put_known("db", &mut oracle, new);
        server.close();
        server = Server::open(directory.path());
        check(&server, &oracle, &vectors, &mut random, in_full(30, 5));
    }
    for weights in [
        json!({}),
        json!({ "name": 0 }),
        json!({ "name": 101 }),
        json!({ "name": 1.5 }),
    ] {
        let refused = server.configure("db", &settings(&json!({ "columns": weights })));
        assert!(matches!(refused, Err(Error::Invalid { .. })), "{refused:?}");
    }
    server.close();
}

#[test]
fn chosen_columns_and_numbers_have_words() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    let settings = json!({
        "model": null, "dimensions": 2, "lexical": true, "embed": { "columns": ["name", "year", "open"] },
    });
    server.create_with("db", &settings).expect("created");
    let record = |id: u64, data: Value| json!({ "id": id, "data": data, "vector": [1, 0] });
    let records = json!([
        record(
            1,
            json!({ "name": "tower", "year": 1889, "open": true, "city": "paris" })
        ),
        record(2, json!({ "name": "paris", "city": "tower" })),
        record(3, json!({ "year": 1889.5 })),
    ]);
    server.upsert("db", &records).expect("stored");
    for (text, found) in [
        ("tower", [1].as_slice()),
        ("paris", &[2]),
        ("1889", &[1, 3]),
        ("1889.5", &[3]),
        ("true", &[1]),
    ] {
        let request = json!({ "threshold": 0.1, "lexical": { "weight": 1, "text": text } });
        let page = server.search("db", &request, &[1.0, 0.0]);
        let ids: Vec<u64> = hits(&page)
            .iter()
            .map(|hit| hit["id"].as_u64().expect("an id"))
            .collect();
        assert_eq!(ids, found, "{text}");
    }
    server.close();
}

#[test]
fn an_explained_score_has_both_parts() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    create(&server, 2);
    let record = json!([{ "id": 1, "data": { "name": "gcc" }, "vector": [3, 4] }]);
    server.upsert("db", &record).expect("stored");
    let mut request = json!({ "explain": true, "lexical": { "weight": 0.5, "text": "GCC" } });
    let page = server.search("db", &request, &[1.0, 0.0]);
    assert_eq!(page["results"][0]["relevance_score"], json!(0.8));
    assert_eq!(
        page["results"][0]["explain"]["score"],
        json!({ "meaning": 0.6, "lexical": 1 })
    );
    request["filter"] =
        json!({ "condition": "AND", "rules": [{ "column": "name", "operator": "is_not_empty" }] });
    let page = server.search("db", &request, &[1.0, 0.0]);
    assert_eq!(page["results"][0]["explain"]["score"]["lexical"], json!(1));
    assert!(page["results"][0]["explain"]["filter"].is_object());
    request = json!({ "explain": true });
    assert_eq!(
        server.search("db", &request, &[1.0, 0.0])["results"][0]["explain"]["score"],
        Value::Null
    );
    for (member, value) in [
        ("weight", json!(1.5)),
        ("weight", json!("0.3")),
        ("text", json!(null)),
    ] {
        let mut request = json!({ "lexical": { "weight": 0.3, "text": "gcc" } });
        request["lexical"][member] = value;
        server
            .try_search("db", &request, &[1.0, 0.0])
            .expect_err("refused");
    }
    server.close();
}
