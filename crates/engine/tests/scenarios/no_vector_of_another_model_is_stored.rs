use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, RwLock};
use std::thread;

use serde_json::{Value, json};

use cosift_engine::{Error, Format, Status};

use crate::common::{Known, Model, Oracle, Random, Server, embed, embedded, fingerprint, settings};

/// Two models with equal dimensions, so that the length of a vector does not identify its model.
const MODELS: [Model; 2] = [[8, 1], [8, 2]];

const SWITCHES: usize = 100;
const WRITERS: u64 = 8;
const READERS: u64 = 2;

/// The number of records that all writers write. Each writer also writes `OWN` records of its own.
const SHARED: u64 = 40;
const OWN: u64 = 30;

/// What all threads share.
struct World {
    server: Server,
    /// Writes hold the lock shared; the last step of a switch holds the lock exclusively.
    switch_lock: RwLock<()>,
    over: AtomicBool,
    /// The last acknowledged data of the records that only one writer writes.
    acknowledged: Mutex<BTreeMap<u64, Option<String>>>,
    /// Commits that had to be embedded again.
    again: AtomicUsize,
    /// Records that were unchanged.
    unchanged: AtomicUsize,
}

/// The current model of the database, as the engine reports it.
fn current_model(server: &Server) -> Model {
    let current = server.describe("db")["fingerprint"].clone();
    let has = |&&model: &&Model| current == json!(fingerprint(model));
    *MODELS.iter().find(has).expect("a model")
}

fn text(id: u64, kind: usize) -> String {
    format!("record {id} of kind {kind}")
}

/// Checks `page` against scores of newly embedded texts of its records. Returns the number of records.
fn check_page(page: &Value, model: Model, query: &[f32]) -> usize {
    let results = page["results"].as_array().expect("results");
    let mut oracle = Oracle::default();
    for found in results {
        let id = found["id"].as_u64().expect("an id");
        let data = found["data"].as_object().expect("data").clone();
        let own = format!("text: {}", data["text"].as_str().expect("a text"));
        let known = Known::new(id, data, embed(&[own], model), 0);
        oracle.records.insert(id, known);
    }
    let score = |found: &Value| (found["id"].clone(), found["relevance_score"].clone());
    let expected: Vec<_> = oracle
        .search(&json!({ "threshold": 0 }), query)
        .iter()
        .map(score)
        .collect();
    let found: Vec<_> = results.iter().map(score).collect();
    assert_eq!(found, expected, "scores by {}", fingerprint(model));
    found.len()
}

/// Checks that embedding every stored text again gives the stored vector.
fn check_all(world: &World, model: Model) {
    let query = embed(&["anything".to_owned()], model);
    let request = json!({ "threshold": 0, "limit": 10_000, "embedded_by": fingerprint(model) });
    let page = world.server.search("db", &request, &query);
    let count = check_page(&page, model, &query);
    assert_eq!(world.server.describe("db")["records"], json!(count));
    let stored: HashMap<u64, &Value> = page["results"]
        .as_array()
        .expect("results")
        .iter()
        .map(|found| (found["id"].as_u64().expect("an id"), &found["data"]["text"]))
        .collect();
    let acknowledged = world.acknowledged.lock().expect("no thread panicked");
    for (id, text) in acknowledged.iter() {
        let text = text.as_ref().map(|text| json!(text));
        assert_eq!(
            stored.get(id).copied(),
            text.as_ref(),
            "acknowledged record {id}"
        );
    }
}

fn write(world: &World, seed: u64) {
    let World { server, .. } = world;
    let mut random = Random::new(100 + seed);
    // The writer notices a model change only when a commit is refused.
    let mut model = current_model(server);
    let first = 1 + SHARED + seed * OWN;
    while !world.over.load(Relaxed) {
        let mut ids: Vec<u64> = (0..1 + random.below(6))
            .map(|_| match random.below(2) {
                0 => 1 + random.below(SHARED as usize) as u64,
                _ => first + random.below(OWN as usize) as u64,
            })
            .collect();
        ids.sort_unstable();
        ids.dedup();
        if random.chance(10) {
            let _shared = world.switch_lock.read().expect("no thread panicked");
            server
                .delete("db", &json!({ "ids": ids }))
                .expect("deleted");
            let mut acknowledged = world.acknowledged.lock().expect("no thread panicked");
            acknowledged.extend(ids.iter().filter(|&&id| id >= first).map(|&id| (id, None)));
            continue;
        }
        if random.chance(30) {
            let id = ids[random.below(ids.len())];
            patch(world, &mut random, &mut model, (id, id >= first));
            continue;
        }
        // There are few different texts, so that many records are unchanged.
        let texts: Vec<String> = ids.iter().map(|&id| text(id, random.below(2))).collect();
        let records: Vec<Value> = ids
            .iter()
            .zip(&texts)
            .map(|(id, text)| json!({ "id": id, "data": { "text": text, "n": id } }))
            .collect();
        let body = json!({ "records": records }).to_string().into_bytes();
        let prepared = server.prepare("db", body, Vec::new(), Format::Batch);
        let prepared = Arc::new(prepared.expect("good records"));
        let committed = loop {
            let embedded = embedded(&prepared.texts(), model);
            thread::yield_now();
            let _shared = world.switch_lock.read().expect("no thread panicked");
            match server.commit_with("db", Arc::clone(&prepared), embedded) {
                Ok(committed) => {
                    let mut acknowledged = world.acknowledged.lock().expect("no thread panicked");
                    let own = ids.into_iter().zip(texts).filter(|&(id, _)| id >= first);
                    acknowledged.extend(own.map(|(id, text)| (id, Some(text))));
                    break committed;
                }
                Err(Error::Stale) => {
                    world.again.fetch_add(1, Relaxed);
                    model = current_model(server);
                }
                Err(error) => panic!("{error}"),
            }
        };
        world
            .unchanged
            .fetch_add(committed.count(Status::Unchanged), Relaxed);
    }
}

/// Patches the text of a record, or a column that is not embedded.
fn patch(world: &World, random: &mut Random, model: &mut Model, (id, is_own): (u64, bool)) {
    let World { server, .. } = world;
    let text = text(id, random.below(2));
    let sets_text = random.chance(50);
    let data = if sets_text {
        json!({ "text": text })
    } else {
        json!({ "m": random.below(9) })
    };
    let prepared = match server.prepare_patch("db", &id.to_string(), &data) {
        Ok(prepared) => Arc::new(prepared),
        Err(Error::RecordNotFound { .. }) => return,
        Err(error) => panic!("{error}"),
    };
    loop {
        let embedded = embedded(&prepared.texts(), *model);
        thread::yield_now();
        let _shared = world.switch_lock.read().expect("no thread panicked");
        match server.commit_with("db", Arc::clone(&prepared), embedded) {
            Ok(_) if is_own && sets_text => {
                let mut acknowledged = world.acknowledged.lock().expect("no thread panicked");
                acknowledged.insert(id, Some(text));
                return;
            }
            Ok(_) | Err(Error::RecordNotFound { .. }) => return,
            Err(Error::Stale) => {
                world.again.fetch_add(1, Relaxed);
                *model = current_model(server);
            }
            Err(error) => panic!("{error}"),
        }
    }
}

fn read(world: &World, seed: u64) -> usize {
    let mut random = Random::new(200 + seed);
    let mut model = current_model(&world.server);
    let mut pages = 0;
    while !world.over.load(Relaxed) {
        let query = embed(&[text(random.below(99) as u64, 0)], model);
        let request = json!({ "threshold": 0, "limit": 25, "embedded_by": fingerprint(model) });
        match world.server.try_search("db", &request, &query) {
            Ok(page) => {
                check_page(&page, model, &query);
                pages += 1;
            }
            Err(Error::Stale) => model = current_model(&world.server),
            Err(error) => panic!("{error}"),
        }
    }
    pages
}

#[test]
fn by_a_commit_that_is_tried_again() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    let [old, new] = MODELS;
    server.create_with("db", &settings(old)).expect("created");
    let prepare = |id: u64| {
        let record = json!({ "id": id, "data": { "text": text(id, 0) } });
        let body = json!({ "records": [record] }).to_string().into_bytes();
        let prepared = server.prepare("db", body, Vec::new(), Format::Batch);
        Arc::new(prepared.expect("good records"))
    };
    let commit =
        |prepared: &Arc<_>, embedded| server.commit_with("db", Arc::clone(prepared), embedded);
    let before = prepare(1);
    let texts = before.texts();
    server
        .begin_reembedding("db", &settings(new))
        .expect("begun");
    catch_up(&server, new);
    server.switch_reembedding("db").expect("switched");
    for _ in 0..3 {
        let refused = commit(&before, embedded(&texts, old));
        assert!(matches!(refused, Err(Error::Stale)));
    }
    // Prepared for the new model, but embedded with the old model.
    let after = prepare(2);
    for prepared in [&before, &after] {
        let refused = commit(prepared, embedded(&prepared.texts(), old));
        assert!(matches!(refused, Err(Error::Stale)));
        commit(prepared, embedded(&prepared.texts(), new)).expect("committed");
    }
    let query = embed(&["anything".to_owned()], new);
    let page = server.search("db", &json!({ "threshold": 0 }), &query);
    assert_eq!(check_page(&page, new, &query), 2);
    server.close();
}

#[test]
fn nor_one_of_the_same_columns_in_another_order() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    let [old, new] = MODELS;
    server.create_with("db", &settings(old)).expect("created");
    let put = |data: &str| {
        let body = format!(r#"{{"records":[{{"id":1,"data":{data}}}]}}"#);
        let prepared = server
            .prepare("db", body.into_bytes(), Vec::new(), Format::Batch)
            .expect("good records");
        let embedded = embedded(&prepared.texts(), old);
        let committed = server.commit_with("db", Arc::new(prepared), embedded);
        committed.expect("committed").results[0].status
    };
    assert_eq!(put(r#"{"a":"one","b":"two"}"#), Status::Created);
    server
        .begin_reembedding("db", &settings(new))
        .expect("begun");
    catch_up(&server, new);
    // The columns are changed and changed back, except for their order, between two batches.
    assert_eq!(put(r#"{"a":"one","b":"three"}"#), Status::Changed);
    assert_eq!(put(r#"{"b":"two","a":"one"}"#), Status::Changed);
    catch_up(&server, new);
    server.switch_reembedding("db").expect("switched");
    let own = embed(&["b: two\na: one".to_owned()], new);
    let page = server.search("db", &json!({ "threshold": 0.9999 }), &own);
    assert_eq!(page["results"].as_array().expect("results").len(), 1);
    server.close();
}

/// Embeds every record that lacks vectors of the next model.
fn catch_up(server: &Server, model: Model) {
    let mut last = false;
    while !last {
        let batch = server.prepare_reembedding("db").expect("a batch");
        last = batch.is_last();
        let embedded = embedded(&batch.texts(), model);
        server
            .commit_reembedding("db", batch, embedded)
            .expect("stored");
    }
}

#[test]
fn however_often_models_change_under_writers() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    server
        .create_with("db", &settings(MODELS[0]))
        .expect("created");
    let world = World {
        server,
        switch_lock: RwLock::default(),
        over: AtomicBool::new(false),
        acknowledged: Mutex::default(),
        again: AtomicUsize::new(0),
        unchanged: AtomicUsize::new(0),
    };
    let pages = thread::scope(|scope| {
        for seed in 0..WRITERS {
            let world = &world;
            scope.spawn(move || write(world, seed));
        }
        let readers: Vec<_> = (0..READERS)
            .map(|seed| {
                let world = &world;
                scope.spawn(move || read(world, seed))
            })
            .collect();
        // A failed check must also end the writers.
        let switched = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for switch in 1..=10 * SWITCHES {
                let model = MODELS[switch % 2];
                world
                    .server
                    .begin_reembedding("db", &settings(model))
                    .expect("begun");
                catch_up(&world.server, model);
                world.server.warm_reembedding("db").expect("warm");
                let _exclusive = world.switch_lock.write().expect("no thread panicked");
                check_all(&world, MODELS[(switch + 1) % 2]);
                catch_up(&world.server, model);
                world.server.switch_reembedding("db").expect("switched");
                check_all(&world, model);
                let counters = [&world.again, &world.unchanged];
                let met_both = counters.iter().all(|counter| counter.load(Relaxed) > 0);
                if switch % SWITCHES == 0 && met_both {
                    break;
                }
            }
        }));
        world.over.store(true, Relaxed);
        if let Err(panic) = switched {
            std::panic::resume_unwind(panic);
        }
        let read = readers.into_iter().map(|reader| reader.join());
        read.map(|pages| pages.expect("no wrong page"))
            .sum::<usize>()
    });
    check_all(&world, MODELS[SWITCHES % 2]);
    let [again, unchanged] = [&world.again, &world.unchanged].map(|count| count.load(Relaxed));
    println!("{pages} pages, {again} commits embedded again, {unchanged} records unchanged");
    assert!(again > 0 && unchanged > 0 && pages > 0);
    world.server.close();
}
