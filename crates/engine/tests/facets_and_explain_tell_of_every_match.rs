//! Facets agree with the records of all pages of a request, and `explain` reveals
//! nothing about a forced filter.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::channel;

use cosift_engine::{Done, Embedded, Engine, Error, Format, Limits, Page};
use serde_json::{Value, json};

const DIMENSIONS: usize = 8;

fn wait<T: Send + 'static>(call: impl FnOnce(Done<T>)) -> Result<T, Error> {
    let (sender, receiver) = channel();
    call(Box::new(move |result| {
        sender.send(result).expect("the caller waits")
    }));
    receiver.recv().expect("every call is answered")
}

struct Random(u64);

impl Random {
    /// An integer below `end`.
    fn below(&mut self, end: usize) -> usize {
        // Xorshift64*, <https://doi.org/10.18637/jss.v008.i14>.
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize) % end
    }

    fn vector(&mut self) -> Vec<f32> {
        (0..DIMENSIONS)
            .map(|_| self.below(2001) as f32 - 1000.5)
            .collect()
    }
}

fn records(random: &mut Random) -> Vec<Value> {
    (1..=9_000)
        .map(|id| {
            let mut data = json!({ "size": random.below(80) as f64 / 4.0, "team": format!("t{}", random.below(3)) });
            match random.below(5) {
                0 => {}
                1 => data["colour"] = json!(random.below(3)),
                2 => data["colour"] = Value::Null,
                _ => data["colour"] = json!(["red", "blue", "1", ""][random.below(4)]),
            }
            let day = 1 + random.below(28);
            let time = format!("2026-{:02}-{day:02}T00:00:00Z", 1 + random.below(3));
            let times = json!({ "created_at": time, "changed_at": time, "synced_at": time });
            json!({ "id": id, "data": data, "vector": random.vector(), "timestamps": times })
        })
        .collect()
}

struct Server {
    engine: Arc<Engine>,
    vector: Vec<f32>,
    _directory: tempfile::TempDir,
}

impl Server {
    fn start(random: &mut Random) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let engine =
            Engine::open(directory.path(), Some(2), Limits::default()).expect("the lock is free");
        let settings = json!({ "model": null, "dimensions": DIMENSIONS }).to_string();
        wait(|done| engine.create_database("db".into(), settings, done)).expect("made");
        for batch in records(random).chunks(1000) {
            let body = json!({ "records": batch }).to_string().into_bytes();
            let prepared = wait(|done| engine.prepare("db", body, Vec::new(), Format::Batch, done))
                .expect("good");
            wait(|done| engine.commit("db", Arc::new(prepared), Embedded::default(), done))
                .expect("committed");
        }
        // Deleted records and replaced versions must not be counted.
        wait(|done| {
            engine.delete(
                "db",
                &json!({ "ids": (1..500).collect::<Vec<u64>>() }).to_string(),
                Arc::default(),
                done,
            )
        })
        .expect("deleted");
        Self {
            engine,
            vector: random.vector(),
            _directory: directory,
        }
    }

    fn try_ask(&self, query: bool, request: &Value) -> Result<Value, Error> {
        let text = request.to_string();
        let page: Page = wait(|done| match query {
            true => self.engine.query("db", text, Arc::default(), done),
            false => self
                .engine
                .search("db", &text, &self.vector, Arc::default(), done),
        })?;
        Ok(serde_json::from_slice(&page.body).expect("JSON"))
    }

    fn ask(&self, query: bool, request: &Value) -> Value {
        self.try_ask(query, request)
            .unwrap_or_else(|error| panic!("{request}: {error}"))
    }

    /// The records of all pages.
    fn all(&self, query: bool, request: &Value) -> Vec<Value> {
        let mut request = request.clone();
        request["limit"] = json!(1000);
        let mut records = Vec::new();
        loop {
            let mut page = self.ask(query, &request);
            records.append(page["results"].as_array_mut().expect("a list"));
            match page["pagination"].get("next_cursor") {
                Some(cursor) => request["cursor"] = cursor.clone(),
                None => return records,
            }
        }
    }
}

fn rule(column: &str, operator: &str, value: Value) -> Value {
    json!({ "condition": "AND", "rules": [{ "column": column, "operator": operator, "value": value }] })
}

/// Counts by a text that distinguishes types, such as `1` and `"1"`.
fn tally(values: impl Iterator<Item = String>) -> BTreeMap<String, u64> {
    values.fold(BTreeMap::new(), |mut counts, value| {
        *counts.entry(value).or_default() += 1;
        counts
    })
}

fn listed(entries: &Value, name: &str) -> BTreeMap<String, u64> {
    let entries = entries.as_array().expect("a list").iter();
    entries
        .map(|entry| {
            (
                entry[name].to_string(),
                entry["count"].as_u64().expect("a count"),
            )
        })
        .collect()
}

#[test]
fn facets_agree_with_all_pages_together() {
    let seed = 0x5eed_fa5e;
    println!("seed {seed:#x}");
    let random = &mut Random(seed);
    let server = Server::start(random);
    let facets = json!([
        { "column": "colour" },
        { "column": "size", "type": "histogram", "interval": 2.5 },
        { "time": "synced", "interval": "month" },
        { "column": "colour", "limit": 1 },
    ]);
    for (query, narrowed) in [
        (false, json!({ "threshold": 0 })),
        (false, json!({ "threshold": 0.2 })),
        (
            false,
            json!({ "threshold": 0.5, "filter": rule("size", "less_than", json!(7)) }),
        ),
        (
            false,
            json!({ "filter": rule("colour", "not_equals", json!("red")), "forced_filter": rule("team", "equals", json!("t1")) }),
        ),
        (
            false,
            json!({ "time_range": { "start_time": "2026-01-20", "end_time": "2026-02-20" } }),
        ),
        (false, json!({ "threshold": 1 })),
        (true, json!({})),
        (
            true,
            json!({ "forced_filter": rule("team", "equals", json!("t2")), "time_range": { "end_time": "2026-02-01" } }),
        ),
        (
            true,
            json!({ "filter": rule("size", "greater_than", json!(1000)) }),
        ),
    ] {
        let all = server.all(query, &narrowed);
        let mut request = narrowed.clone();
        request["facets"] = facets.clone();
        request["total"] = json!(true);
        request["limit"] = json!(7);
        let page = server.ask(query, &request);
        assert_eq!(page["total"]["value"], json!(all.len()), "{request}");
        assert_eq!(
            page["results"].as_array().expect("a list"),
            &all[..all.len().min(7)],
            "{request}"
        );
        let [values, sizes, months, one] = page["facets"].as_array().expect("a list").as_slice()
        else {
            panic!("four facets were asked for")
        };

        let colours = all
            .iter()
            .map(|record| &record["data"]["colour"])
            .filter(|colour| !colour.is_null());
        let expected = tally(colours.map(Value::to_string));
        assert_eq!(listed(&values["values"], "value"), expected, "{request}");
        let held: u64 = expected.values().sum();
        assert_eq!(
            values["missing"],
            json!(all.len() as u64 - held),
            "{request}"
        );
        assert_eq!(values["other"], json!(0));
        let first = one["values"][0]["count"].as_u64().unwrap_or(0);
        assert_eq!(
            first,
            expected.values().copied().max().unwrap_or(0),
            "{request}"
        );
        assert_eq!(one["other"], json!(held - first), "{request}");

        let starts = all.iter().map(|record| {
            let size = record["data"]["size"]
                .as_f64()
                .expect("every record has one");
            let start = (size / 2.5).floor() * 2.5;
            // The response writes an integral number without decimals.
            if start.fract() == 0.0 {
                format!("{start:.0}")
            } else {
                start.to_string()
            }
        });
        assert_eq!(
            listed(&sizes["buckets"], "from"),
            tally(starts),
            "{request}"
        );

        let starts = all.iter().map(|record| {
            let time = record["timestamps"]["last_seen_time"]
                .as_str()
                .expect("a time");
            format!("\"{}-01T00:00:00.000Z\"", &time[..7])
        });
        assert_eq!(
            listed(&months["buckets"], "from"),
            tally(starts),
            "{request}"
        );

        // The facets are the same on every page, with or without a total.
        if let Some(cursor) = page["pagination"].get("next_cursor") {
            request["cursor"] = cursor.clone();
            request["total"] = json!(false);
            assert_eq!(
                server.ask(query, &request)["facets"],
                page["facets"],
                "{request}"
            );
        }
    }
    server.engine.close();
}

#[test]
fn cached_counts_end_with_the_next_write() {
    let random = &mut Random(0x5eed_e4b2);
    let server = Server::start(random);
    let request = json!({
        "threshold": 0, "limit": 10, "total": true, "facets": [{ "column": "team", "limit": 10 }],
    });
    let first = server.ask(false, &request);
    // Later requests use the cached counts, also for another page.
    let mut next = request.clone();
    next["cursor"] = first["pagination"]["next_cursor"].clone();
    for again in [&request, &next] {
        let page = server.ask(false, again);
        assert_eq!(page["total"], first["total"]);
        assert_eq!(page["facets"], first["facets"]);
    }
    // A request with another threshold has its own counts.
    let mut other = request.clone();
    other["threshold"] = json!(0.5);
    assert_ne!(server.ask(false, &other)["total"], first["total"]);

    let deleted = json!({ "ids": [first["results"][0]["id"]] }).to_string();
    wait(|done| server.engine.delete("db", &deleted, Arc::default(), done)).expect("deleted");
    let count = first["total"]["value"].as_u64().expect("a number");
    let after = server.ask(false, &request);
    assert_eq!(after["total"]["value"], json!(count - 1));
    let listed_count =
        |page: &Value| -> u64 { listed(&page["facets"][0]["values"], "value").values().sum() };
    assert_eq!(listed_count(&first), count);
    assert_eq!(listed_count(&after), count - 1);
    server.engine.close();
}

#[test]
fn explain_tells_what_the_callers_rules_did_and_nothing_of_a_forced_filter() {
    let random = &mut Random(0x5eed_e4b1);
    let server = Server::start(random);
    let filter = json!({ "condition": "OR", "rules": [
        { "column": "size", "operator": "less_than", "value": 10 },
        { "column": "colour", "operator": "equals", "value": "red" },
    ] });
    let forced = rule("team", "equals", json!("t1"));
    let visible = server.all(true, &json!({ "filter": forced })).len();
    for query in [false, true] {
        let request = json!({ "filter": filter, "explain": true, "limit": 100 });
        let mut scoped = request.clone();
        scoped["forced_filter"] = forced.clone();
        let page = server.ask(query, &scoped);
        assert_eq!(
            page["explain"]["records"],
            json!(visible),
            "records that the caller may not see are not counted"
        );
        let within_visible = |name: &str| {
            page["explain"][name]
                .as_u64()
                .is_none_or(|count| count <= visible as u64)
        };
        assert!(
            ["rotated", "scanned", "refined", "scored", "matches"]
                .into_iter()
                .all(within_visible),
            "{}",
            page["explain"]
        );
        // These depend on the records between those that the caller sees.
        for name in ["rotated", "refined", "scored"] {
            assert_eq!(page["explain"].get(name), None, "{name}");
        }
        assert_eq!(
            page["explain"]["plan"],
            server.ask(query, &request)["explain"]["plan"]
        );
        assert!(
            page["explain"]["times_ms"]["total"]
                .as_f64()
                .is_some_and(|ms| ms > 0.0)
        );
        for record in page["results"].as_array().expect("a list") {
            assert_eq!(record["data"]["team"], "t1");
            let held = [
                record["data"]["size"]
                    .as_f64()
                    .is_some_and(|size| size < 10.0),
                record["data"]["colour"] == "red",
            ];
            let expected = json!({ "filter": { "pointer": "", "held": true, "rules": [
                { "pointer": "/rules/0", "held": held[0] },
                { "pointer": "/rules/1", "held": held[1] },
            ] } });
            assert_eq!(record["explain"], expected);
        }
        let only_forced = server.ask(query, &json!({ "forced_filter": forced, "explain": true }));
        let unfiltered = server.ask(query, &json!({ "explain": true }));
        assert_eq!(
            only_forced["explain"]["plan"], unfiltered["explain"]["plan"],
            "no sign that there is a filter"
        );
        assert_eq!(only_forced["results"][0]["explain"], json!({}));
        assert_eq!(
            server.ask(query, &json!({}))["results"][0].get("explain"),
            None
        );
    }
    server.engine.close();
}

#[test]
fn bad_facets_are_refused_by_search_and_query() {
    let server = Server::start(&mut Random(3));
    for query in [false, true] {
        let request = json!({ "facets": [{ "column": "size" }, { "column": "size", "limit": 0 }] });
        let error = server.try_ask(query, &request).expect_err("a limit of 0");
        assert_eq!(
            (error.code(), error.problems()[0].pointer.as_str()),
            ("invalid_request", "/facets/1/limit")
        );
    }
    server.engine.close();
}
