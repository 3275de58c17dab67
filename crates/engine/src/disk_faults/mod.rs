//! Every operation of the disk fails in turn, and the power is cut after each: nothing acknowledged is lost, and no
//! database is left half created, half replaced or half dropped.

mod create;
mod drop;
mod faulty;
mod full;
mod hand_over;
mod save;
mod support;
mod swap;
