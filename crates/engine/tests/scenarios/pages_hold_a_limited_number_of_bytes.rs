use cosift_engine::Limits;
use serde_json::{Map, Value, json};

use crate::common::{Known, Oracle, Random, Server, Vectors, assert_same, hits};

const PAGE_BYTES: usize = 20_000;

/// Records whose sizes range from a few bytes to more than the limit of a page.
fn filled() -> (tempfile::TempDir, Server, Oracle, Vectors, Random) {
    let mut random = Random::new(40);
    let directory = tempfile::tempdir().expect("a directory");
    let limits = Limits {
        page_bytes: PAGE_BYTES,
        ..Limits::default()
    };
    let server = Server::with_limits(directory.path(), limits);
    server.create("db", 8);
    let vectors = Vectors::new(8, &mut random);
    let mut oracle = Oracle::default();
    let records = (1..=400).map(|id| {
        let length = [10, 300, 5_000, 19_500, 50_000][random.below(5)];
        let mut data = Map::new();
        data.insert("text".into(), "é\n".repeat(length / 3).into());
        data.insert("size".into(), length.into());
        Known::new(id, data, vectors.draw(&mut random), id as i64 % 50 * 1000)
    });
    let records = records.collect();
    server.put_known("db", &mut oracle, records);
    (directory, server, oracle, vectors, random)
}

/// Follows cursors to the end and checks that each page is as full as the limit allows.
fn drain(request: &Value, ask: impl Fn(&Value) -> Value) -> Vec<Value> {
    let mut request = request.clone();
    let mut all = Vec::new();
    let mut pages: Vec<(usize, usize)> = Vec::new();
    loop {
        let page = ask(&request);
        let found = hits(&page);
        let lengths: Vec<usize> = found.iter().map(|hit| hit.to_string().len()).collect();
        let bytes = lengths.iter().sum::<usize>() + lengths.len().saturating_sub(1);
        assert!(bytes <= PAGE_BYTES || found.len() == 1, "{bytes} bytes");
        if let Some(&(before, count)) = pages.last() {
            let full = count == 100 || before + 1 + lengths[0] > PAGE_BYTES;
            assert!(full, "another record would have fit the previous page");
        }
        pages.push((bytes, found.len()));
        all.extend(found);
        match page["pagination"]["next_cursor"].as_str() {
            None => {
                assert_eq!(page["pagination"]["has_more"], false);
                assert!(pages.iter().any(|&(bytes, _)| bytes > PAGE_BYTES));
                return all;
            }
            Some(cursor) => {
                assert_eq!(page["pagination"]["has_more"], true);
                request["cursor"] = cursor.into();
            }
        }
    }
}

#[test]
fn of_a_search() {
    let (_directory, server, oracle, vectors, mut random) = filled();
    for round in 0..6 {
        let mut request =
            json!({ "form": (["uuid", "integer"][round % 2]), "threshold": 0.0, "limit": 100 });
        if round > 3 {
            request["total"] = json!(true);
        }
        let vector = vectors.draw(&mut random);
        let found = drain(&request, |request| server.search("db", request, &vector));
        assert_same(&found, &oracle.search(&request, &vector), &request);
    }
    server.close();
}

#[test]
fn of_a_query() {
    let (_directory, server, oracle, _, _) = filled();
    for variant in ["uuid", "integer"] {
        for sort in [
            json!({ "column": "size" }),
            json!({ "time": "synced_at", "direction": "desc" }),
        ] {
            let request = json!({ "form": variant, "limit": 100, "sort": sort });
            let found = drain(&request, |request| server.query("db", request));
            assert_same(&found, &oracle.query(&request), &request);
        }
    }
    server.close();
}
