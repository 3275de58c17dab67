//! The engine as a Node-API module: convert, call, convert. No decision is made here.
//!
//! Failures cross as values: a promise never rejects, it resolves with the result or a
//! [`failure::NativeFailure`]. The engine's threads queue the calls that they have finished, and the JavaScript thread
//! settles their promises ([`finished_calls`]).

#![expect(unreachable_pub, reason = "napi exports the items of private modules")]

mod arrays;
mod background;
mod buffer;
mod deferred;
mod doctor;
mod engine;
mod external;
mod external_searches;
mod external_values;
mod external_writes;
mod failure;
mod finished_calls;
mod handles;
mod module;
mod options;
mod promise;
mod results;
mod sqlite_file;
