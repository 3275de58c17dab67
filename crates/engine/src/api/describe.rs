//! Descriptions of a database, for the API and for metrics.

use serde_json::json;

use crate::api::database::Database;
use crate::columns::{ColumnId, TypeCounts};
use crate::json::{time_text, write_integer};
use crate::snapshot::{Block, BlockMemory, Snapshot};

/// The types of values, in the order in which a description names them.
const TYPES: [&str; 5] = ["string", "number", "boolean", "null", "list"];

/// Bytes of a column in a description, at most, without its name: with all types, a number of ten digits and a comma.
const COLUMN_BYTES: usize =
    r#"{"name":,"types":["string","number","boolean","null","list"],"records":},"#.len() + 10;

/// Describes a database as JSON.
pub(crate) fn describe(database: &Database) -> Vec<u8> {
    let mut out = Vec::new();
    write_description(database, &mut out);
    out
}

/// Appends the description of a database as JSON: records, settings, columns with their types, sizes and times.
pub(crate) fn write_description(database: &Database, out: &mut Vec<u8>) {
    let snapshot = database.snapshot();
    let memory = memory(database);
    let settings = database.current_settings();
    let mut members = settings.to_json();
    if settings.lexical.is_on() {
        let indexed = snapshot.blocks.iter().filter(|block| block.has_words());
        let indexed: usize = indexed.map(|block| block.living).sum();
        members.insert("lexical_records".into(), json!(indexed));
    }
    members.insert("id".into(), json!(database.id));
    members.insert("records".into(), json!(snapshot.records()));
    members.insert("passages".into(), json!(snapshot.vectors()));
    let without_text: usize = snapshot.blocks.iter().map(Block::without_vector).sum();
    members.insert("without_text".into(), json!(without_text));
    members.insert(
        "sizes".into(),
        json!({
            "memory_bytes": memory.sum(),
            "codes_bytes": memory.codes,
            "columns_bytes": memory.columns,
            "identities_bytes": memory.identities,
            "lexical_bytes": memory.lexical,
            "disk_bytes": database.disk_bytes(),
        }),
    );
    let mut times = json!({ "created_at": time_text(database.created_at), "last_write_at": time_text(database.last_write_at()) });
    if let Some(as_of) = database.as_of() {
        times["as_of"] = time_text(as_of).into();
    }
    members.insert("times".into(), times);
    let members = serde_json::Value::Object(members).to_string();
    // There may be thousands of columns, so they are written without an intermediate value.
    let names = &snapshot.names;
    out.reserve(members.len() + names.member_bytes() + names.len() * COLUMN_BYTES + 16);
    out.extend_from_slice(&members.as_bytes()[..members.len() - 1]);
    out.extend_from_slice(b",\"columns\":[");
    write_columns(&snapshot, out);
    out.extend_from_slice(b"]}");
}

/// Appends the columns that living records have, with their types and numbers of records, in order of their ids.
fn write_columns(snapshot: &Snapshot, out: &mut Vec<u8>) {
    let mut totals = vec![TypeCounts::default(); snapshot.names.len()];
    for block in &snapshot.blocks {
        block.add_type_counts(&mut totals);
    }
    let mut separator: &[u8] = b"{\"name\":";
    for (id, types) in (0..).map(ColumnId).zip(totals) {
        let records = types.records();
        if records == 0 {
            continue;
        }
        out.extend_from_slice(separator);
        separator = b",{\"name\":";
        out.extend_from_slice(snapshot.names.quoted(id));
        out.extend_from_slice(b",\"types\":");
        let counts = [
            types.texts,
            types.numbers,
            types.booleans,
            types.nulls,
            types.lists,
        ];
        let mut opening: &[u8] = b"[\"";
        for (name, _) in TYPES.iter().zip(counts).filter(|(_, count)| *count > 0) {
            out.extend_from_slice(opening);
            out.extend_from_slice(name.as_bytes());
            out.push(b'"');
            opening = b",\"";
        }
        out.extend_from_slice(b"],\"records\":");
        write_integer(records.into(), out);
        out.push(b'}');
    }
}

/// The records, state and sizes of a database as JSON. `problem` is why the database is no longer served.
pub(crate) fn sizes(database: &Database) -> serde_json::Value {
    let memory = memory(database);
    let mut members = json!({
        "id": database.id,
        "loaded": database.damage().is_none(),
        "checked": database.is_checked(),
        "writable": database.is_writable(),
        "records": database.snapshot().records(),
        "memory_bytes": memory.sum(),
        "disk_bytes": database.disk_bytes(),
    });
    if let Some(detail) = database.damage() {
        members["problem"] = json!({ "code": "damaged", "detail": detail });
    }
    members
}

fn memory(database: &Database) -> BlockMemory {
    let mut sum = BlockMemory::default();
    let published = database.published().read();
    sum.identities = published.index.memory_bytes();
    for block in &published.snapshot.blocks {
        let block = block.memory();
        sum.codes += block.codes;
        sum.columns += block.columns;
        sum.identities += block.identities;
        sum.exact += block.exact;
        sum.lexical += block.lexical;
    }
    sum
}
