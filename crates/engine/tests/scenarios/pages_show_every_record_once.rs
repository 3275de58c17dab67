use serde_json::{Value, json};

use crate::common::{
    Known, Oracle, Random, Server, Vectors, assert_same, hits, random_boosts, random_data,
    random_filter,
};

fn filled(seed: u64, count: u64) -> (tempfile::TempDir, Server, Oracle, Vectors, Random) {
    let mut random = Random::new(seed);
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    server.create("db", 8);
    let vectors = Vectors::new(8, &mut random);
    let mut oracle = Oracle::default();
    // There are few different vectors, so most scores tie and pages end within ties.
    let few: Vec<Vec<f32>> = (0..60).map(|_| vectors.draw(&mut random)).collect();
    let records = (1..=count).map(|id| {
        let vector = random.pick(&few).clone();
        Known::new(id, random_data(&mut random), vector, id as i64 % 50 * 1000)
    });
    let records = records.collect();
    server.put_known("db", &mut oracle, records);
    (directory, server, oracle, vectors, random)
}

/// Follows cursors to the end. Every page may have another limit, and `between` runs after each page.
fn drain(
    server: &Server,
    request: &Value,
    vector: &[f32],
    random: &mut Random,
    limits: &[usize],
    mut between: impl FnMut(&Value, &mut Random),
) -> Vec<Value> {
    let mut request = request.clone();
    let mut all = Vec::new();
    loop {
        let limit = *random.pick(limits);
        request["limit"] = json!(limit);
        let page = server.search("db", &request, vector);
        let found = hits(&page);
        let pagination = &page["pagination"];
        assert_eq!(pagination["limit"], json!(limit));
        assert!(
            found.len() == limit || pagination["has_more"] == false,
            "a short page is the last"
        );
        all.extend(found);
        match pagination["next_cursor"].as_str() {
            None => {
                assert_eq!(pagination["has_more"], json!(false));
                return all;
            }
            Some(cursor) => {
                assert_eq!(pagination["has_more"], json!(true));
                request["cursor"] = json!(cursor);
            }
        }
        between(&page, random);
    }
}

#[test]
fn of_a_search_at_any_limits() {
    let (_directory, server, oracle, vectors, mut random) = filled(10, 5_000);
    for round in 0..12 {
        let mut request = json!({ "form": (["uuid", "integer", "both"][round % 3]), "threshold": ([0.0, 0.2, 0.6][round % 3]) });
        if round % 4 > 1 {
            request["filter"] = random_filter(&mut random, 2);
        }
        if round % 2 == 1 {
            request["boosts"] = random_boosts(&mut random, 0.8);
        }
        let query = vectors.draw(&mut random);
        let found = drain(
            &server,
            &request,
            &query,
            &mut random,
            &[7, 50, 100, 333],
            |_, _| (),
        );
        assert_same(&found, &oracle.search(&request, &query), &request);
    }
    server.close();
}

/// Enough records that scans skip those below the score-floor estimate.
#[test]
fn of_a_search_among_many() {
    let (_directory, server, oracle, vectors, mut random) = filled(15, 36_000);
    for round in 0..9 {
        let mut request = json!({ "form": (["uuid", "integer", "both"][round % 3]), "threshold": ([0.5, 0.8][round % 2]) });
        if round % 3 > 0 {
            request["filter"] = random_filter(&mut random, 2);
        }
        if round % 2 == 1 {
            request["boosts"] = random_boosts(&mut random, 0.8);
        }
        let query = vectors.draw(&mut random);
        let limits = [&[7, 50, 333][..], &[1000]][round % 2];
        let found = drain(&server, &request, &query, &mut random, limits, |_, _| ());
        assert_same(&found, &oracle.search(&request, &query), &request);
    }
    server.close();
}

#[test]
fn with_a_total_on_every_page() {
    let (_directory, server, oracle, vectors, mut random) = filled(11, 3_000);
    let request = json!({ "form": "integer", "threshold": 0.3, "total": true });
    let query = vectors.draw(&mut random);
    let expected = oracle.search(&request, &query);
    let count = expected.len();
    let found = drain(&server, &request, &query, &mut random, &[100], |page, _| {
        assert_eq!(page["total"]["value"], json!(count));
    });
    assert_same(&found, &expected, &request);
    server.close();
}

#[test]
fn while_others_are_written() {
    let (_directory, server, oracle, vectors, mut random) = filled(12, 4_000);
    for variant in ["uuid", "integer"] {
        let request = json!({ "form": variant, "threshold": 0.0 });
        let query = vectors.draw(&mut random);
        let id = |known: &Known| {
            if variant == "uuid" {
                json!(known.uuid)
            } else {
                json!(known.id)
            }
        };
        let mut new = 100_000;
        // Half of the records stay unchanged. Of the others, some are changed, deleted or inserted again.
        let found = drain(
            &server,
            &request,
            &query,
            &mut random,
            &[20, 100],
            |_, random| {
                let touched: Vec<Known> = (0..20)
                    .map(|_| {
                        let id = 1 + random.below(2_000) as u64 * 2;
                        Known::new(id, random_data(random), vectors.draw(random), 7)
                    })
                    .collect();
                server.put("db", &touched);
                let deleted: Vec<u64> =
                    (0..5).map(|_| 1 + random.below(2_000) as u64 * 2).collect();
                server
                    .delete("db", &json!({ "ids": deleted }))
                    .expect("deleted");
                new += 1;
                server.put(
                    "db",
                    &[Known::new(
                        new,
                        random_data(random),
                        vectors.draw(random),
                        7,
                    )],
                );
            },
        );
        let mut still = oracle.search(&request, &query);
        let stays: std::collections::HashSet<String> = oracle
            .records
            .values()
            .filter(|known| known.id % 2 == 0)
            .map(|known| id(known).to_string())
            .collect();
        still.retain(|hit| stays.contains(&hit["id"].to_string()));
        let mut seen = found;
        seen.retain(|hit| stays.contains(&hit["id"].to_string()));
        assert_same(&seen, &still, &request);
    }
    server.close();
}

#[test]
fn after_the_record_of_the_cursor_is_deleted_or_changed() {
    let (_directory, server, mut oracle, vectors, mut random) = filled(13, 1_000);
    for round in 0..20 {
        let request = json!({ "form": (["uuid", "integer", "both"][round % 3]), "threshold": 0.0, "limit": 30 });
        let query = vectors.draw(&mut random);
        let first = server.search("db", &request, &query);
        let shown = hits(&first);
        let last = &shown[29];
        let id = oracle
            .records
            .values()
            .find(|known| last["id"] == json!(known.uuid) || last["id"] == json!(known.id))
            .expect("a known record")
            .id;
        let mut expected: Vec<Value> = oracle.search(&request, &query).split_off(30);
        if round % 4 < 2 {
            oracle.records.remove(&id);
            server
                .delete("db", &json!({ "ids": [id] }))
                .expect("deleted");
        } else {
            // Move the record to the end or the start of the order. Neither may change the page.
            let direction = if random.chance(50) { 1.0 } else { -1.0 };
            let vector: Vec<f32> = query
                .iter()
                .map(|component| component * direction)
                .collect();
            let known = Known::new(id, random_data(&mut random), vector, 9);
            server.put_known("db", &mut oracle, vec![known]);
        }
        let mut next = request.clone();
        next["limit"] = json!(1_000);
        next["cursor"] = first["pagination"]["next_cursor"].clone();
        let mut found = hits(&server.search("db", &next, &query));
        for hits in [&mut found, &mut expected] {
            hits.retain(|hit| hit["id"] != last["id"]);
        }
        assert_same(&found, &expected, &next);
    }
    server.close();
}

#[test]
fn and_an_invalid_cursor_is_refused() {
    let (_directory, server, _, vectors, mut random) = filled(14, 10);
    let query = vectors.draw(&mut random);
    for cursor in [
        "", "x", "0.5", "0.5_", "1.1_3", "0.5|3", "0.5_3_4", "-0.1_3", "NaN_3",
    ] {
        let request = json!({ "form": "integer", "cursor": cursor });
        let error = server.try_search("db", &request, &query).expect_err(cursor);
        assert_eq!(error.code(), "invalid_cursor", "{cursor}");
    }
    server.close();
}
