//! The engine as a Node-API module: convert, call, convert. No decision is made here.
//!
//! Failures cross as values, promises never reject: what resolves is the result or a
//! [`failure::NativeFailure`]. Nothing here calls into JavaScript; promises are settled from the
//! engine's threads.

#![expect(unreachable_pub, reason = "napi exports the items of private modules")]

mod engine;
mod failure;
mod module;
mod options;
mod page;
mod prepared;
mod promise;
mod reembedding;
mod stop;
