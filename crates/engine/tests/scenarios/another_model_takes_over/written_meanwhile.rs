//! Records that are written during the re-embedding.

use serde_json::{Value, json};

use cosift_engine::Error;

use super::{
    NEW, OLD, check_contents, check_vectors, commit, contents, create, finish, put, step, write,
};
use crate::common::{Random, Server, embed, image, settings};

#[test]
fn with_all_that_was_written_meanwhile() {
    let mut random = Random::new(90);
    let directory = tempfile::tempdir().expect("a directory");
    let mut server = Server::open(directory.path());
    create(&server);
    for _ in 0..200 {
        write(&server, &mut random, OLD);
    }
    server
        .begin_reembedding("db", &settings(NEW))
        .expect("begun");
    let mut images = Vec::new();
    for round in 0..30 {
        let batch = server.prepare_reembedding("db").expect("a batch");
        // Writes between reading a batch and committing it, which is when texts are embedded.
        for _ in 0..random.below(4) {
            write(&server, &mut random, OLD);
        }
        commit(&server, batch).expect("stored");
        if round % 10 == 4 {
            let crashed = tempfile::tempdir().expect("a directory");
            image(directory.path(), crashed.path());
            images.push(crashed);
        }
        if round == 20 {
            server.close();
            server = Server::open(directory.path());
            let progress = server.reembedding("db");
            assert_eq!(progress["fingerprint"], "f2");
            assert!(progress["done"].as_u64() > Some(100), "{progress}");
        }
    }
    while !step(&server) {}
    // Written before the index files are made, and embedded after it.
    write(&server, &mut random, OLD);
    server.warm_reembedding("db").expect("warm");
    write(&server, &mut random, OLD);
    // After a later write, the switch is refused and the database is unchanged.
    assert!(matches!(server.switch_reembedding("db"), Err(Error::Stale)));
    check_vectors(&server, OLD);
    while !step(&server) {}
    let before = contents(&server);
    let old = server.describe("db");
    assert_eq!(
        server.reembedding("db")["done"],
        old["records"],
        "the count is up to date"
    );
    let _ = server.engine.take_events();
    server.switch_reembedding("db").expect("switched");
    let events = server.engine.take_events().to_json();
    assert_eq!(events["events"], json!([]), "its index files are used");
    check_contents(&server, &before);
    check_vectors(&server, NEW);
    let new = server.describe("db");
    assert_eq!(
        (&new["fingerprint"], &new["dimensions"]),
        (&json!("f2"), &json!(12))
    );
    assert_eq!(new["records"], old["records"]);
    assert_eq!(server.reembedding("db"), Value::Null);
    // A query vector of the old model is refused.
    let stale = json!({ "embedded_by": "f1" });
    let query = embed(&["text: 1 1".to_owned()], OLD);
    assert!(matches!(
        server.try_search("db", &stale, &query),
        Err(Error::Stale)
    ));

    // Ids and positions continue from their last values.
    let position = before.1["position"].as_u64().expect("a position");
    put(
        &server,
        &json!([{ "data": { "text": "late", "n": 0 } }]),
        NEW,
    );
    let late = server.changes("db", position, 10);
    assert_eq!(late["changes"][0]["position"], json!(position + 1));
    for _ in 0..20 {
        write(&server, &mut random, NEW);
    }
    let before = contents(&server);
    server.close();
    let server = Server::open(directory.path());
    check_contents(&server, &before);
    check_vectors(&server, NEW);
    server.close();

    for crashed in images {
        let server = Server::open(crashed.path());
        check_vectors(&server, OLD);
        let before = contents(&server);
        let progress = server
            .begin_reembedding("db", &settings(NEW))
            .expect("resumed");
        assert!(progress["done"].as_u64() > Some(0), "{progress}");
        finish(&server);
        check_contents(&server, &before);
        check_vectors(&server, NEW);
        server.close();
    }
}
