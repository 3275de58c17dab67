//! The store against a reference model, and against everything that goes wrong on disks.

mod replay;
mod support;
