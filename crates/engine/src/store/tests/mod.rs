//! The store against a reference model, and against everything that goes wrong with disks and processes.

mod acknowledged;
mod beside;
mod carry;
mod damage;
mod full;
mod kill;
mod lock;
mod open;
#[cfg(target_os = "linux")]
mod poison;
mod reclaim;
mod replay;
mod retention;
mod speed;
mod support;
mod upgrade;
