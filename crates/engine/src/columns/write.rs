//! Writes records as JSON text.

use crate::columns::names::{ColumnId, ColumnNames};
use crate::columns::table::Columns;
use crate::json::write_value;

/// Appends the data of a record as a JSON object. The members keep the order in which the record was written.
pub(crate) fn write_data(columns: &Columns, slot: usize, names: &ColumnNames, out: &mut Vec<u8>) {
    let cells = columns
        .cells(slot)
        .map(|(id, value): (ColumnId, _)| (names.member(id), value));
    out.push(b'{');
    for (at, (member, value)) in cells.enumerate() {
        if at > 0 {
            out.push(b',');
        }
        out.extend_from_slice(member);
        write_value(value, out);
    }
    out.push(b'}');
}
