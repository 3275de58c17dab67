//! The vectors of a record, as an upsert takes them back.

use crate::disk::FileError;
use crate::json::{write_number, write_passage, write_string};
use crate::record::{Vectors, q30_to_f64};
use crate::snapshot::block::Block;
use crate::snapshot::exact_vectors::VectorBuffer;

/// Writes the vectors of records.
pub(crate) struct VectorWriter {
    /// The member that says which model made the vectors; empty in a database without a model.
    embedded_by: Vec<u8>,
    buffer: VectorBuffer,
}

impl VectorWriter {
    /// `fingerprint` is that of the model of the database.
    pub(crate) fn new(fingerprint: Option<&str>) -> Self {
        let mut embedded_by = Vec::new();
        if let Some(fingerprint) = fingerprint {
            embedded_by.extend_from_slice(b",\"embedded_by\":");
            write_string(fingerprint, &mut embedded_by);
        }
        Self {
            embedded_by,
            buffer: VectorBuffer::default(),
        }
    }

    /// Appends `vector`, or `passages` of a record with several, and `embedded_by`; other members stand before them.
    /// Appends nothing for a record without a vector.
    ///
    /// # Errors
    /// As [`Block::vectors_of`].
    pub(crate) fn write(
        &mut self,
        (block, slot): (&Block, usize),
        out: &mut Vec<u8>,
    ) -> Result<(), FileError> {
        if block.has_vector(slot) {
            let vectors = block.vectors_of(slot, &mut self.buffer)?;
            write_vectors(&vectors, out);
            out.extend_from_slice(&self.embedded_by);
        }
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
