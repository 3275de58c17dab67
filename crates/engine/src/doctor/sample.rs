//! Records whose texts are embedded again, to compare the vectors.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::record::{Data, q30_to_f32};
use crate::settings::Settings;
use crate::store::StoredRecord;

/// Records of a sample.
const RECORDS: usize = 32;

/// The records with the smallest hashes of their ids: as good as a random sample, and the same in every run.
#[derive(Debug, Default)]
pub(super) struct Sample {
    by_hash: BTreeMap<u64, Sampled>,
}

#[derive(Debug)]
struct Sampled {
    id: u64,
    text: String,
    vector: Vec<i32>,
}

impl Sample {
    /// Adds a record of a database with a model, if it belongs to the sample.
    pub(super) fn add(&mut self, settings: &Settings, data: &Data, record: &StoredRecord<'_>) {
        if settings.model.is_none() {
            return;
        }
        let hash = mixed(record.header.id);
        if self.by_hash.len() == RECORDS
            && self
                .by_hash
                .last_key_value()
                .is_some_and(|(&last, _)| last <= hash)
        {
            return;
        }
        let Some(text) = settings.text_of(data) else {
            return;
        };
        let sampled = Sampled {
            id: record.header.id,
            text: text.text,
            vector: record.first_vector().to_vec(),
        };
        self.by_hash.insert(hash, sampled);
        if self.by_hash.len() > RECORDS {
            self.by_hash.pop_last();
        }
    }

    /// The sample as JSON, with the components as floats.
    pub(super) fn to_json(&self) -> Value {
        let mut floats = Vec::new();
        let records = self.by_hash.values().map(|sampled| {
            q30_to_f32(&sampled.vector, &mut floats);
            json!({ "id": sampled.id, "text": sampled.text, "vector": floats })
        });
        records.collect()
    }
}

/// The finaliser of SplitMix64, a bijection.
pub(super) fn mixed(id: u64) -> u64 {
    let z = (id ^ (id >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
