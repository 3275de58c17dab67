//! Measures the latency and throughput of searches in the engine over vectors of a file.
//!
//! `cargo run --release -p cosift-engine --example latency -- VECTORS.f32 HEADER_BYTES RECORDS QUERIES DIRECTORY`
//!
//! The file holds 384 little-endian floats a row, `RECORDS` rows and then `QUERIES` more to search with.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Instant;

use cosift_engine::{Done, Embedded, Engine, Error, Format, Limits};

const DIMENSIONS: usize = 384;

fn wait<T: Send + 'static>(call: impl FnOnce(Done<T>)) -> Result<T, Error> {
    let (sender, receiver) = channel();
    call(Box::new(move |result| {
        sender.send(result).expect("the caller waits")
    }));
    receiver.recv().expect("every call is answered")
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, header, records, queries, directory] = arguments.as_slice() else {
        return Err("usage: latency VECTORS.f32 HEADER_BYTES RECORDS QUERIES DIRECTORY".into());
    };
    let (header, records, queries): (usize, usize, usize) =
        (header.parse()?, records.parse()?, queries.parse()?);
    let bytes = std::fs::read(file)?;
    let row = |at: usize| -> Vec<f32> {
        let start = header + at * DIMENSIONS * 4;
        bytes[start..start + DIMENSIONS * 4]
            .as_chunks::<4>()
            .0
            .iter()
            .map(|&bytes| f32::from_le_bytes(bytes))
            .collect()
    };
    let threads = std::env::var("THREADS")
        .ok()
        .and_then(|threads| threads.parse().ok())
        .unwrap_or(1);
    let start = Instant::now();
    let engine = Engine::open(Path::new(directory), Some(threads), Limits::default())?;
    wait(|done| engine.load(done))?;
    println!("opened in {:?}", start.elapsed());
    let settings = format!("{{\"dimensions\":{DIMENSIONS}}}");
    let made = wait(|done| engine.create_database("bench".into(), settings, done))?;
    if String::from_utf8_lossy(&made).contains("\"created\":true") {
        ingest(&engine, records, &row)?;
    }
    let sizes = wait(|done| engine.describe_database("bench", done))?;
    let text = String::from_utf8_lossy(&sizes);
    println!("{}", &text[text.find("sizes").unwrap_or(0)..]);
    let vectors: Vec<Vec<f32>> = (0..queries).map(|at| row(records + at)).collect();
    for (name, members) in [
        ("unfiltered", ""),
        ("total", ",\"total\":true"),
        (
            "category ~5 %",
            ",\"filter\":{\"rules\":[{\"column\":\"category\",\"operator\":\"equals\",\"value\":\"c3\"}]}",
        ),
        (
            "price < 50 %",
            ",\"filter\":{\"rules\":[{\"column\":\"price\",\"operator\":\"less_than\",\"value\":500}]}",
        ),
        (
            "price 1 %",
            ",\"filter\":{\"rules\":[{\"column\":\"price\",\"operator\":\"less_than\",\"value\":10}]}",
        ),
        (
            "price 0.1 %",
            ",\"filter\":{\"rules\":[{\"column\":\"price\",\"operator\":\"less_than\",\"value\":1}]}",
        ),
    ] {
        time(&engine, name, members, &vectors)?;
    }
    pages(&engine, &vectors)?;
    for clients in [2, 4, 8, 16, 32, 64] {
        throughput(&engine, clients, &vectors)?;
    }
    let start = Instant::now();
    engine.close();
    println!("closed in {:?}", start.elapsed());
    Ok(())
}

fn ingest(
    engine: &Arc<Engine>,
    records: usize,
    row: &dyn Fn(usize) -> Vec<f32>,
) -> Result<(), Error> {
    let start = Instant::now();
    for first in (0..records).step_by(1000) {
        let count = 1000.min(records - first);
        let items: Vec<String> = (first..first + count)
            .map(|at| {
                format!(
                    "{{\"id\":{},\"data\":{{\"category\":\"c{}\",\"price\":{},\"flag\":{},\"title\":\"title {} of {}\"}}}}",
                    at + 1,
                    at * 7919 % 20,
                    at * 104_729 % 1000,
                    at % 2 == 0,
                    at * 31 % 977,
                    at * 17 % 1009
                )
            })
            .collect();
        let body = format!("{{\"records\":[{}]}}", items.join(",")).into_bytes();
        let vectors: Vec<f32> = (first..first + count).flat_map(row).collect();
        let prepared = wait(|done| engine.prepare("bench", body, vectors, Format::Batch, done))?;
        wait(|done| engine.commit("bench", Arc::new(prepared), Embedded::default(), done))?;
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "ingested {records} in {seconds:.1} s, {:.0} a second",
        records as f64 / seconds
    );
    std::thread::sleep(std::time::Duration::from_secs(3 + records as u64 / 40_000));
    Ok(())
}

fn search(
    engine: &Arc<Engine>,
    members: &str,
    vector: &[f32],
) -> Result<cosift_engine::Page, Error> {
    let request = format!("{{\"variant\":\"b\",\"threshold\":0.2,\"limit\":50{members}}}");
    wait(|done| engine.search("bench", &request, vector, Arc::default(), done))
}

fn time(
    engine: &Arc<Engine>,
    name: &str,
    members: &str,
    vectors: &[Vec<f32>],
) -> Result<(), Error> {
    let mut times: Vec<f64> = Vec::new();
    for round in 0..3 {
        for vector in vectors {
            let start = Instant::now();
            search(engine, members, vector)?;
            if round > 0 {
                times.push(start.elapsed().as_secs_f64() * 1e3);
            }
        }
    }
    times.sort_by(f64::total_cmp);
    let page = search(engine, &format!("{members},\"explain\":true"), &vectors[0])?;
    let text = String::from_utf8_lossy(&page.body);
    let explain = text.rfind("\"explain\"").map_or("", |at| &text[at..]);
    println!(
        "{name}: p50 {:.2} ms p99 {:.2} ms {explain}",
        times[times.len() / 2],
        times[times.len() * 99 / 100]
    );
    Ok(())
}

fn pages(engine: &Arc<Engine>, vectors: &[Vec<f32>]) -> Result<(), Error> {
    let mut by_page: Vec<Vec<f64>> = vec![Vec::new(); 201];
    for vector in vectors.iter().take(8) {
        let mut cursor = String::new();
        for times in by_page.iter_mut().skip(1) {
            let start = Instant::now();
            let page = search(engine, &cursor, vector)?;
            times.push(start.elapsed().as_secs_f64() * 1e3);
            let text = String::from_utf8_lossy(&page.body).into_owned();
            let Some(at) = text.find("\"next_cursor\":\"") else {
                break;
            };
            let rest = &text[at + 15..];
            cursor = format!(",\"cursor\":\"{}\"", &rest[..rest.find('"').unwrap_or(0)]);
        }
    }
    for page in [1, 2, 5, 20, 100, 200] {
        let times = &mut by_page[page];
        times.sort_by(f64::total_cmp);
        if !times.is_empty() {
            println!("page {page}: p50 {:.2} ms", times[times.len() / 2]);
        }
    }
    Ok(())
}

fn throughput(engine: &Arc<Engine>, clients: usize, vectors: &[Vec<f32>]) -> Result<(), Error> {
    let per_client = 2 * vectors.len() / clients.min(vectors.len()) + 4;
    let start = Instant::now();
    std::thread::scope(|scope| {
        for client in 0..clients {
            scope.spawn(move || {
                for at in 0..per_client {
                    search(engine, "", &vectors[(client * 7 + at) % vectors.len()])
                        .expect("search");
                }
            });
        }
    });
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{clients} at once: {:.0} searches a second",
        (clients * per_client) as f64 / seconds
    );
    Ok(())
}
