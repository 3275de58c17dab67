//! The points of a map, written straight to their JSON text.

use crate::columns::{ColumnId, write_data};
use crate::error::Error;
use crate::json::{write_id, write_number};
use crate::record::Ranked;
use crate::runtime::StopCheck;
use crate::search::map::axes::{Projection, Sample};
use crate::search::page::{PageContent, PagePosition};
use crate::snapshot::VectorBuffer;

/// Steps of a coordinate between 0 and 1.
const STEPS: f64 = 1e6;

impl<P: PagePosition> PageContent<'_, P> {
    /// Writes the map of the records, which have a vector each: points, variance, has_more.
    ///
    /// # Errors
    /// [`Error::Stopped`]; the error of a vector that cannot be read.
    pub(crate) fn write_map(&self, stop_check: &StopCheck<'_>) -> Result<Vec<u8>, Error> {
        let Projection { points, variance } = self.project(stop_check)?;
        let columns = self.request.shown_columns(&self.snapshot.names);
        let mut out = b"{\"points\":[".to_vec();
        let start = out.len();
        let mut shown = 0;
        for (record, point) in self.records.iter().zip(points) {
            let end = out.len();
            if shown > 0 {
                out.push(b',');
            }
            self.write_point(record, point, columns.as_deref(), &mut out);
            if shown > 0 && out.len() - start > self.request.page_bytes {
                out.truncate(end);
                break;
            }
            shown += 1;
        }
        out.extend_from_slice(b"],\"variance\":[");
        write_number(rounded(variance[0]), &mut out);
        out.push(b',');
        write_number(rounded(variance[1]), &mut out);
        out.extend_from_slice(b"],\"has_more\":");
        let has_more: &[u8] = if shown < self.records.len() {
            b"true}"
        } else {
            b"false}"
        };
        out.extend_from_slice(has_more);
        Ok(out)
    }

    /// The places of the records in their order. Their vectors are added in the order of the ids, so that the same
    /// matches have the same picture in any order.
    fn project(&self, stop_check: &StopCheck<'_>) -> Result<Projection, Error> {
        let records = &self.records[..self.records.len().min(self.request.limit)];
        let mut order: Vec<usize> = (0..records.len()).collect();
        order.sort_unstable_by_key(|&at| self.snapshot.id_of(records[at].row));
        let mut vectors = Vec::new();
        let mut buffer = VectorBuffer::default();
        for &at in &order {
            let (block, slot) = self.snapshot.at(records[at].row);
            stop_check.before_testing(block.exact.dimensions() * size_of::<i32>())?;
            vectors.extend_from_slice(block.exact.vector(slot, &mut buffer)?);
        }
        let dimensions = vectors.len() / records.len().max(1);
        let Projection { points, variance } =
            Sample::new(dimensions.max(1), vectors).project(stop_check)?;
        let mut in_order = vec![[0.0; 2]; points.len()];
        for (at, point) in order.into_iter().zip(points) {
            in_order[at] = point;
        }
        Ok(Projection {
            points: in_order,
            variance,
        })
    }

    fn write_point(
        &self,
        record: &Ranked<P>,
        [x, y]: [f64; 2],
        columns: Option<&[ColumnId]>,
        out: &mut Vec<u8>,
    ) {
        let (block, slot) = self.snapshot.at(record.row);
        out.extend_from_slice(b"{\"id\":");
        write_id(self.request.variant, block.id(slot), block.uuid(slot), out);
        if let Some(score) = record.position.score() {
            out.extend_from_slice(b",\"relevance_score\":");
            score.write(out);
        }
        out.extend_from_slice(b",\"x\":");
        write_number(rounded(x), out);
        out.extend_from_slice(b",\"y\":");
        write_number(rounded(y), out);
        out.extend_from_slice(b",\"data\":");
        write_data(
            &block.body.columns,
            slot,
            &self.snapshot.names,
            columns,
            out,
        );
        out.push(b'}');
    }
}

/// A number in steps of 1e-6.
fn rounded(number: f64) -> f64 {
    // Adding 0 turns -0 into 0.
    (number * STEPS).round() / STEPS + 0.0
}
