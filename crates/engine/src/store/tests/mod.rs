//! Tests of the store against a reference model, and against failures of disks and processes.

mod acknowledged;
mod clock;
mod closed_files;
mod damage;
mod full;
mod generations;
mod image;
mod kill;
mod lock;
mod next_model;
mod open;
#[cfg(target_os = "linux")]
mod poison;
mod readers;
mod reclaim;
mod replay;
mod restored;
mod retention;
mod speed;
mod support;
mod vector_files;
