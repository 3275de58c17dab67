//! Writes records as JSON text.

use crate::columns::names::ColumnNames;
use crate::columns::table::Columns;
use crate::json::write_value;

/// Appends the data of a record as a JSON object. The members keep the order in which the record was written.
pub(crate) fn write_data(columns: &Columns, slot: usize, names: &ColumnNames, out: &mut Vec<u8>) {
    out.push(b'{');
    let start = out.len();
    // `for_each` runs through chained iterators without making each cell an option first, which a loop does.
    columns.cells(slot).for_each(|(id, value)| {
        if out.len() > start {
            out.push(b',');
        }
        out.extend_from_slice(names.member(id));
        write_value(value, out);
    });
    out.push(b'}');
}
