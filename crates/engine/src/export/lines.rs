//! A record as a line of NDJSON that an upsert takes.

use crate::error::Error;
use crate::json::{write_integer, write_key, write_number, write_passage, write_string};
use crate::record::{Variant, Vectors, q30_to_f64};
use crate::snapshot::{Block, Snapshot, VectorBuffer, write_data_and_times};

/// Writes records with all that an upsert needs to store them again as they are.
pub(crate) struct LineWriter {
    /// Whether lines have vectors.
    vectors: bool,
    /// The member that says which model made the vectors; empty in a database without a model.
    embedded_by: Vec<u8>,
    buffer: VectorBuffer,
}

impl LineWriter {
    /// `fingerprint` is that of the model of the database.
    pub(crate) fn new(vectors: bool, fingerprint: Option<&str>) -> Self {
        let mut embedded_by = Vec::new();
        if let Some(fingerprint) = fingerprint {
            embedded_by.extend_from_slice(b",\"embedded_by\":");
            write_string(fingerprint, &mut embedded_by);
        }
        Self {
            vectors,
            embedded_by,
            buffer: VectorBuffer::default(),
        }
    }

    /// Appends the line of a record.
    ///
    /// # Errors
    /// [`Error::IndexFiles`] when neither the index files nor the store have the vector of the snapshot.
    pub(crate) fn write(
        &mut self,
        snapshot: &Snapshot,
        (block, slot): (&Block, usize),
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        out.extend_from_slice(b"{\"id\":");
        write_integer(block.id(slot).0, out);
        out.extend_from_slice(b",\"uuid\":\"");
        block.uuid(slot).write(out);
        out.push(b'"');
        write_key(block.key(slot), out);
        write_data_and_times(snapshot, block, slot, Variant::A, out);
        if self.vectors && block.has_vector(slot) {
            // A line never has the vector of a later commit beside the data of the snapshot.
            let vectors = block.vectors_as_of(slot, snapshot.version, &mut self.buffer)?;
            write_vectors(&vectors, out);
            out.extend_from_slice(&self.embedded_by);
        }
        out.extend_from_slice(b"}\n");
        Ok(())
    }
}

/// Appends the member `vector`, or `passages` for a record with several.
fn write_vectors(vectors: &Vectors, out: &mut Vec<u8>) {
    let Some(passages) = &vectors.passages else {
        out.extend_from_slice(b",\"vector\":");
        return write_vector(&vectors.first, out);
    };
    out.extend_from_slice(b",\"passages\":");
    for (at, passage) in passages.places.iter().enumerate() {
        out.push(if at == 0 { b'[' } else { b',' });
        write_passage(passage, out);
        out.extend_from_slice(b",\"vector\":");
        write_vector(vectors.get(at).unwrap_or_default(), out);
        out.push(b'}');
    }
    out.push(b']');
}

fn write_vector(vector: &[i32], out: &mut Vec<u8>) {
    for (at, component) in q30_to_f64(vector).enumerate() {
        out.push(if at == 0 { b'[' } else { b',' });
        write_number(component, out);
    }
    out.push(b']');
}
