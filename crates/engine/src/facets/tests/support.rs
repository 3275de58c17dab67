//! Random blocks for facets, and a helper that counts them.

use std::sync::Arc;

use serde_json::Value as Json;

use crate::columns::{ColumnNames, Mask};
use crate::facets::{Facet, FacetCounter};
use crate::record::{OwnedValue, RecordId, RecordRow, RecordUuid, Vectors};
use crate::runtime::StopCheck;
use crate::snapshot::{Basis, Block, NewRow, Times};

pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// An integer below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        // Xorshift64*, <https://doi.org/10.18637/jss.v008.i14>.
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize) % end
    }
}

pub(crate) const COLUMNS: [&str; 8] = [
    "mixed", "whole", "float", "word", "unique", "rare", "list", "tags",
];

/// A random value of a column. The columns together use every encoding.
fn value(random: &mut Random, column: usize) -> Option<OwnedValue> {
    let text = |text: String| Some(OwnedValue::Text(text.into()));
    match column {
        0 => match random.below(9) {
            0 => None,
            1 => Some(OwnedValue::Null),
            2 => Some(OwnedValue::Boolean(random.below(2) == 0)),
            3 => Some(OwnedValue::Number(
                [0.0, 1.0, -1.5, 0.3, 1e300, 9e15, 1e16][random.below(7)],
            )),
            4 => text(["", "1", "true", "null", "é"][random.below(5)].to_owned()),
            5 => Some(OwnedValue::Number(random.below(4) as f64)),
            _ => text(format!("v{}", random.below(30))),
        },
        1 => {
            let end = if random.below(50) == 0 { 1 << 40 } else { 300 };
            Some(OwnedValue::Number(random.below(end) as f64 - 20.0))
        }
        2 => Some(OwnedValue::Number(random.below(5000) as f64 / 8.0 - 100.0)),
        3 => text(format!("word {}", random.below(12))),
        4 => text(format!(
            "a longer text that most records have alone {}",
            random.below(100_000)
        )),
        5 if random.below(40) > 0 => None,
        6 if random.below(3) > 0 => {
            let column = random.below(4);
            let elements = (0..random.below(6)).filter_map(|_| value(random, column));
            let elements = elements.filter(|element| *element != OwnedValue::Null);
            Some(OwnedValue::List(elements.collect()))
        }
        7 => {
            let elements = (0..random.below(6)).filter_map(|_| value(random, 3));
            Some(OwnedValue::List(elements.collect()))
        }
        _ => value(random, 0),
    }
}

pub(crate) fn blocks(random: &mut Random, lens: &[usize], names: &mut ColumnNames) -> Vec<Block> {
    let basis = Arc::new(Basis::untrained(8));
    let mut first = 0;
    let mut block = |len: &usize| {
        let rows: Vec<NewRow> = (0..*len)
            .map(|at| {
                let mut time = || -40_000_000_000 + random.below(1 << 31) as i64 * 900;
                let times = Times {
                    created: time(),
                    changed: 1_700_000_000_000,
                    synced: time(),
                };
                let cells = COLUMNS.iter().enumerate().filter_map(|(column, name)| {
                    value(random, column).map(|value| (names.insert(name), value))
                });
                let (cells, id) = (cells.collect(), RecordId((first + at + 1) as u64));
                let vector = vec![1 << 30, 0, 0, 0, 0, 0, 0, 0];
                NewRow {
                    id,
                    uuid: RecordUuid([0; 16]),
                    key: None,
                    times,
                    cells,
                    vectors: Vectors::one(vector),
                }
            })
            .collect();
        first += len;
        Block::build(RecordRow((first - len) as u32), 8, &rows, &basis)
    };
    lens.iter().map(&mut block).collect()
}

/// One block of records with these numbers in the column `a` and these times of creation.
pub(crate) fn block_of(numbers: &[f64], created: &[i64]) -> (ColumnNames, Block) {
    let mut names = ColumnNames::default();
    let column = names.insert("a");
    let rows: Vec<NewRow> = (1..)
        .zip(numbers.iter().zip(created))
        .map(|(id, (&number, &created))| NewRow {
            id: RecordId(id),
            uuid: RecordUuid([id as u8; 16]),
            key: None,
            times: Times {
                created,
                changed: created,
                synced: created,
            },
            cells: vec![(column, OwnedValue::Number(number))],
            vectors: Vectors::one(vec![1 << 30, 0, 0, 0, 0, 0, 0, 0]),
        })
        .collect();
    let basis = Arc::new(Basis::untrained(8));
    (names, Block::build(RecordRow(0), 8, &rows, &basis))
}

pub(crate) fn counted(
    facets: &Json,
    names: &ColumnNames,
    block: &Block,
) -> Result<Json, crate::Error> {
    let facets = Facet::parse_list(facets).expect("they parse");
    let counter = FacetCounter::bind(&facets, names);
    counter.count(block, &Mask::full(block.len()))?;
    let json = counter.write(usize::MAX, &StopCheck::never())?;
    Ok(serde_json::from_slice(&json).expect("a response is JSON"))
}
