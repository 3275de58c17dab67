//! Faults while the vectors of another model are made and handed over to files, and while they take the place of the former.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use serde_json::json;

use crate::columns::BLOCK_RECORDS;
use crate::disk_faults::support::{World, faults, open, sampled, wait};
use crate::write::Format;
use crate::{Embedded, Engine, Error};

/// The records of the template: a full block, and one that grows.
const RECORDS: u64 = BLOCK_RECORDS as u64 + 50;

/// The fingerprints of the models.
const MODELS: [&str; 2] = ["f", "g"];

fn settings(model: usize) -> String {
    let fingerprint = MODELS[model];
    json!({ "model": fingerprint, "fingerprint": fingerprint, "dimensions": 2 }).to_string()
}

/// The vector of the text that ends with an id.
fn vector(id: u64, model: usize) -> [f32; 2] {
    let angle = id as f32 * 1e-4 + model as f32;
    [angle.cos(), angle.sin()]
}

fn embedded(texts: &[String], model: usize) -> Embedded {
    let id = |text: &String| text.rsplit(' ').next().expect("a word").parse();
    let vectors = texts
        .iter()
        .flat_map(|text| vector(id(text).expect("an id"), model));
    Embedded {
        fingerprint: Some(MODELS[model].into()),
        vectors: vectors.collect(),
        ..Embedded::default()
    }
}

/// A closed database with the vectors of the first model.
fn template() -> World {
    let world = World::new();
    let engine = world.open();
    wait(|done| engine.create_database("db".into(), settings(0), done)).expect("created");
    for first in (1..=RECORDS).step_by(1_000) {
        let ids = first..(first + 1_000).min(RECORDS + 1);
        let records = ids.map(|id| json!({ "id": id, "data": { "text": format!("text {id}") } }));
        let body = json!({ "records": records.collect::<Vec<_>>() }).to_string();
        let body = body.into_bytes();
        let prepared = wait(|done| engine.prepare("db", body, Vec::new(), Format::Batch, done));
        let prepared = prepared.expect("prepared");
        let vectors = embedded(&prepared.texts(), 0);
        wait(|done| engine.commit("db", Arc::new(prepared), vectors, done)).expect("stored");
    }
    engine.close();
    world
}

/// Embeds the database again with the second model, as the service does it.
fn reembed(engine: &Arc<Engine>) -> Result<(), Error> {
    wait(|done| engine.begin_reembedding("db", settings(1), done))?;
    loop {
        let batch = Arc::new(wait(|done| engine.prepare_reembedding("db", done))?);
        let vectors = embedded(&batch.texts(), 1);
        let is_last = batch.is_last();
        wait(|done| engine.commit_reembedding("db", batch, vectors, done))?;
        if is_last {
            break;
        }
    }
    wait(|done| engine.warm_reembedding("db".into(), done))?;
    wait(|done| engine.switch_reembedding("db".into(), done))
}

/// The model of the database, after a check that all records have its vectors.
fn model_of(engine: &Arc<Engine>, what: &str) -> usize {
    let database = engine
        .database("db")
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    let fingerprint = database.settings.fingerprint.as_deref();
    let model = MODELS.iter().position(|known| fingerprint == Some(known));
    let model = model.expect("one of the models");
    let mut next = 1;
    let read = database.reader.load(0, |record| {
        assert_eq!(record.header.id, next, "{what}");
        let found: Vec<f32> = (record.vectors.iter())
            .map(|&component| component as f32 / (1 << 30) as f32)
            .collect();
        let expected = vector(next, model);
        let differs = |(found, expected): (&f32, f32)| (found - expected).abs() > 1e-6;
        assert!(
            !found.iter().zip(expected).any(differs),
            "{what}: {found:?}"
        );
        next += 1;
        ControlFlow::Continue(())
    });
    read.unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(next, RECORDS + 1, "{what}");
    model
}

/// Checks that the database has the vectors of one model at the next two starts, that the re-embedding can be finished after
/// the first, and that no file is left then that nothing needs.
fn assert_survives(engine: Arc<Engine>, directory: &Path, is_switched: bool, what: &str) {
    let model = model_of(&engine, what);
    assert!(!is_switched || model == 1, "{what}");
    if model == 0 {
        reembed(&engine).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(model_of(&engine, what), 1, "{what}");
    }
    engine.close();
    let engine = open(directory);
    assert_eq!(model_of(&engine, what), 1, "{what}");
    let database = engine.database("db").expect("opened");
    let named = database.reader.named_files().expect("read");
    let mut named: Vec<String> = named.keys().map(|file| format!("{file}.vectors")).collect();
    let place = directory.join("databases/db");
    let names = |directory: &Path| {
        let entries = std::fs::read_dir(directory).expect("read");
        let name =
            |entry: std::io::Result<std::fs::DirEntry>| entry.ok()?.file_name().into_string().ok();
        entries.filter_map(name).collect::<Vec<_>>()
    };
    let mut files = names(&place.join("vectors"));
    named.sort();
    files.sort();
    assert_eq!(files, named, "{what}");
    assert!(!names(&place).contains(&"next".to_owned()), "{what}");
    drop(database);
    engine.close();
}

#[test]
fn a_failed_operation_mixes_no_vectors() {
    let template = template();
    let (world, engine) = template.open_copy();
    let operations = world.rehearse(|| reembed(&engine).expect("switched"));
    engine.close();
    assert!(operations.len() > 30, "{operations:?}");
    for fault in sampled(faults(&operations), 11) {
        let (world, engine) = template.open_copy();
        let switched = world.failing(fault, || reembed(&engine)).is_ok();
        engine.close();
        let what = format!("{fault:?}");
        assert_survives(open(&world.data()), &world.data(), switched, &what);
    }
}

#[test]
fn a_power_cut_mixes_no_vectors() {
    let template = template();
    for after in sampled(0.., 11) {
        let (world, engine) = template.open_copy();
        let what = format!("power cut after {after}");
        let (switched, reached) = world.with_power_cut(after, "image", || reembed(&engine));
        let directory = world.data().with_file_name("image");
        let image = world.open_image("image");
        assert_survives(image, &directory, !reached && switched.is_ok(), &what);
        engine.close();
        if !reached {
            break;
        }
    }
}

#[test]
fn the_files_of_the_former_vectors_stay_while_a_read_may_need_them() {
    let (world, engine) = template().open_copy();
    let database = engine.database("db").expect("opened");
    let former = database.reader.named_files().expect("read");
    let files = world.data().join("databases/db/vectors");
    let exist = || {
        let path = |file: &u64| files.join(format!("{file}.vectors"));
        former.keys().all(|file| path(file).exists())
    };
    let pin = database.reader.pinned_files();
    drop(database);
    reembed(&engine).expect("switched");
    assert_eq!(model_of(&engine, "switched"), 1);
    assert!(exist());
    drop(pin);
    engine.close();
    assert!(!exist());
}
