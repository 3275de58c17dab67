//! Every operation of the disk fails in turn, and the power is cut after each: nothing acknowledged is lost, and no
//! database is left half created, half dropped or with the vectors of two models.

mod create;
mod drop;
mod faulty;
mod full;
mod hand_over;
mod reembedding;
mod save;
mod support;
mod switch;
