//! A record as the interface shows it, written straight to its JSON text.

use crate::columns::write_data;
use crate::json::{write_integer, write_time};
use crate::record::{Score, Variant};
use crate::snapshot::{Block, Snapshot};

/// Writes one record as `variant` shows it.
pub(crate) fn write_record(
    snapshot: &Snapshot,
    block: &Block,
    slot: usize,
    variant: Variant,
    out: &mut Vec<u8>,
) {
    write_open_record(snapshot, block, slot, variant, None, out);
    out.push(b'}');
}

/// Writes one record without its last brace, so that members can follow.
pub(crate) fn write_open_record(
    snapshot: &Snapshot,
    block: &Block,
    slot: usize,
    variant: Variant,
    score: Option<Score>,
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(b"{\"id\":");
    match variant {
        Variant::A => {
            out.push(b'"');
            block.uuid(slot).write(out);
            out.push(b'"');
        }
        Variant::B => write_integer(block.id(slot).0, out),
    }
    if let Some(score) = score {
        out.extend_from_slice(b",\"relevance_score\":");
        score.write(out);
    }
    out.extend_from_slice(b",\"data\":");
    write_data(&block.body.columns, slot, &snapshot.names, out);
    out.extend_from_slice(b",\"timestamps\":{");
    let times = block.times(slot);
    let values = [times.created, times.changed, times.synced];
    for (at, (name, time)) in variant.time_names().into_iter().zip(values).enumerate() {
        out.extend_from_slice(if at == 0 { b"\"" } else { b",\"" });
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b"\":\"");
        write_time(time, out);
        out.push(b'"');
    }
    out.push(b'}');
}
