//! The rules with rows that a test keeps, as a store would.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::error::Error;
use crate::external::{
    ExternalChange, ExternalPage, ExternalRow, ExternalRules, ExternalVectors, ExternalWrites,
};
use crate::limits::Limits;
use crate::write::{Embedded, Format, Prepared};

const EPOCH: &str = "0123456789abcdef0123456789abcdef";

fn rules(model: Option<&str>) -> ExternalRules {
    let settings = json!({
        "model": model, "fingerprint": model, "dimensions": 2, "embed": { "columns": ["text"] }, "lexical": true,
    });
    ExternalRules::new("db", EPOCH, &settings.to_string(), Limits::default()).expect("valid")
}

/// The rows of a database.
#[derive(Default)]
struct Rows {
    rows: BTreeMap<u64, ExternalRow>,
    next_id: u64,
}

impl Rows {
    fn list(&self) -> Vec<ExternalRow> {
        self.rows.values().cloned().collect()
    }

    fn stage(
        &mut self,
        rules: &ExternalRules,
        prepared: &Prepared,
        embedded: &Embedded,
        now: i64,
    ) -> Result<ExternalWrites, Error> {
        let next_id = self.next_id.max(1);
        let writes = rules.stage(prepared, &self.list(), embedded, next_id, now, &[])?;
        self.next_id = writes.next_id;
        for change in &writes.changes {
            match change {
                ExternalChange::Put(put) => {
                    let ExternalVectors {
                        first, passages, ..
                    } = put.vectors.clone();
                    let row = ExternalRow {
                        vector: first,
                        passages,
                        ..put.row.clone()
                    };
                    self.rows.insert(row.header.id, row);
                }
                ExternalChange::Touch { id, synced } => {
                    let row = self.rows.get_mut(id).expect("it is stored");
                    row.header.synced = *synced;
                }
            }
        }
        Ok(writes)
    }

    fn upsert(
        &mut self,
        rules: &ExternalRules,
        records: &Value,
        embedded: &Embedded,
        now: i64,
    ) -> Result<ExternalWrites, Error> {
        let body = json!({ "records": records }).to_string();
        let prepared = rules.prepare(body.as_bytes(), &[], Format::Batch)?;
        rules.find_texts(&prepared, &self.list())?;
        self.stage(rules, &prepared, embedded, now)
    }
}

fn puts(writes: &ExternalWrites) -> Vec<(u64, bool)> {
    let puts = writes.changes.iter().filter_map(|change| match change {
        ExternalChange::Put(put) => Some((put.row.header.id, put.created)),
        ExternalChange::Touch { .. } => None,
    });
    puts.collect()
}

/// The vectors of two texts: one vector, and two of a text that was split.
fn split() -> Embedded {
    Embedded {
        vectors: vec![1.0, 0.0, 0.0, 1.0, 1.0, 0.0],
        splits: vec![1, 2, 2, 0, 0, 4, 0, 3, 8],
        fingerprint: Some("m".into()),
    }
}

fn long_records() -> Value {
    json!([{ "id": 1, "data": { "text": "short" } }, { "id": 2, "data": { "text": "long text" } }])
}

#[test]
fn an_upsert_stores_what_changed_and_touches_the_rest() {
    let (rules, mut rows) = (rules(None), Rows::default());
    let records = |n: u32| json!([{ "id": 3, "data": { "a": "x" }, "vector": [3, 4] }, { "data": { "n": n }, "vector": [1, 0] }]);
    let none = Embedded::default();
    let first = rows.upsert(&rules, &records(1), &none, 10).expect("stored");
    assert_eq!(puts(&first), [(3, true), (4, true)]);
    let names: Vec<_> = first
        .columns
        .iter()
        .map(|column| (&column.name[..], column.counts))
        .collect();
    assert_eq!(names, [("a", [1, 0, 0, 0, 0]), ("n", [0, 1, 0, 0, 0])]);
    assert_eq!(first.next_id, 5);

    let changed = json!([{ "id": 3, "data": { "a": "x" }, "vector": [3, 4] }, { "id": 4, "data": { "n": "1" }, "vector": [1, 0] }]);
    let second = rows.upsert(&rules, &changed, &none, 20).expect("stored");
    assert_eq!(puts(&second), [(4, false)]);
    assert_eq!(second.columns[0].counts, [1, -1, 0, 0, 0]);
    let ExternalChange::Put(put) = &second.changes[1] else {
        panic!("the second record is stored");
    };
    assert_eq!(put.before.as_deref(), Some(&br#"{"n":1}"#[..]));
    assert_eq!(
        (rows.rows[&3].header.synced, rows.rows[&3].header.changed),
        (20, 10)
    );
}

#[test]
fn only_texts_of_other_content_are_embedded() {
    let (rules, mut rows) = (rules(Some("m")), Rows::default());
    rows.upsert(&rules, &long_records(), &split(), 1)
        .expect("stored");
    let body = json!({ "records": [
        { "id": 1, "data": { "text": "short" } }, { "id": 2, "data": { "text": "another" } }, { "data": { "n": 1 } },
    ] });
    let prepared = rules
        .prepare(body.to_string().as_bytes(), &[], Format::Batch)
        .expect("valid");
    rules.find_texts(&prepared, &rows.list()).expect("found");
    assert_eq!(prepared.texts(), ["another"]);
    // Vectors of another model.
    let other = Embedded {
        vectors: vec![1.0, 0.0],
        splits: Vec::new(),
        fingerprint: Some("other".into()),
    };
    let refused = rows.stage(&rules, &prepared, &other, 2);
    assert!(matches!(refused, Err(Error::Stale)));
}

#[test]
fn a_split_text_has_all_vectors_to_scan_and_keeps_them_through_a_patch() {
    let (rules, mut rows) = (rules(Some("m")), Rows::default());
    let writes = rows
        .upsert(&rules, &long_records(), &split(), 1)
        .expect("stored");
    let scanned: Vec<usize> = writes
        .changes
        .iter()
        .map(|change| match change {
            ExternalChange::Put(put) => put.vectors.scanned.len(),
            ExternalChange::Touch { .. } => 0,
        })
        .collect();
    assert_eq!(scanned, [1, 2]);
    let ExternalChange::Put(long) = &writes.changes[1] else {
        panic!("the long record is stored");
    };
    assert_eq!(long.vectors.scanned[1].single, [1.0, 0.0]);
    let ExternalChange::Put(short) = &writes.changes[0] else {
        panic!("the short record is stored");
    };
    assert_eq!(
        long.vectors.scanned[1].direction,
        short.vectors.scanned[0].direction
    );

    let patch = rules
        .prepare_patch("2", "both", br#"{"data":{"n":1}}"#)
        .expect("valid");
    rules.find_texts(&patch, &rows.list()).expect("found");
    assert!(patch.texts().is_empty());
    let before = rows.rows[&2].clone();
    rows.stage(&rules, &patch, &Embedded::default(), 2)
        .expect("stored");
    let after = &rows.rows[&2];
    assert_eq!(
        (&after.vector, &after.passages),
        (&before.vector, &before.passages)
    );
    assert!(before.passages.is_some());
}

#[test]
fn a_page_shows_the_score_and_the_place_of_the_best_passage() {
    let (rules, mut rows) = (rules(Some("m")), Rows::default());
    rows.upsert(&rules, &long_records(), &split(), 1)
        .expect("stored");
    let request = json!({
        "form": "integer", "threshold": 0, "limit": 10, "passages": true, "embedded_by": "m",
    });
    let search = rules
        .search(&request.to_string(), &[1.0, 0.0])
        .expect("valid");
    let row = &rows.rows[&2];
    let cosines = search
        .cosines(&row.vector, row.passages.as_deref())
        .expect("vectors");
    assert_eq!(cosines, [0, 1_000_000_000]);
    assert_eq!(
        search.scores(&rows.list()).expect("vectors"),
        [1_000_000_000; 2]
    );
    let page = ExternalPage {
        rows: rows.list(),
        ..ExternalPage::default()
    };
    let body = search.page(&page, &[1_000_000_000; 2]).expect("written");
    let body: Value = serde_json::from_slice(&body).expect("JSON");
    assert_eq!(body["results"][0].get("passage"), None);
    let place = json!({ "column": "text", "start": 3, "end": 8 });
    assert_eq!(body["results"][1]["passage"], place);
}

#[test]
fn an_export_gives_the_same_rows_again() {
    let (rules, mut rows) = (rules(Some("m")), Rows::default());
    rows.upsert(&rules, &long_records(), &split(), 1)
        .expect("stored");
    let lines = rules.lines(&rows.list(), true).expect("written");
    let format = Format::Lines {
        first: 1,
        needs_identity: false,
        read_at: None,
    };
    let prepared = rules.prepare(&lines, &[], format).expect("valid");
    let mut copy = Rows::default();
    rules.find_texts(&prepared, &[]).expect("found");
    assert!(prepared.texts().is_empty());
    copy.stage(&rules, &prepared, &Embedded::default(), 9)
        .expect("stored");
    assert_eq!(rules.lines(&copy.list(), true).expect("written"), lines);
}

#[test]
fn texts_of_rows_get_vectors_in_their_order_and_a_text_with_too_many_passages_is_refused() {
    let (rules, mut rows) = (rules(Some("m")), Rows::default());
    rows.upsert(
        &rules,
        &json!([{ "id": 7, "data": { "n": 1 } }]),
        &Embedded::default(),
        1,
    )
    .expect("stored");
    rows.upsert(&rules, &long_records(), &split(), 1)
        .expect("stored");
    let texts = rules.texts_of(&rows.list(), None).expect("data");
    assert_eq!(texts.texts(), ["short", "long text"]);
    assert_eq!(texts.lines(1)[0].column, "text");
    // A row whose text stays the same keeps its vectors, if the same model made them.
    let settings = |model: &str, column: &str| {
        json!({
            "model": model, "fingerprint": model, "dimensions": 2, "embed": { "columns": ["none", column] },
        })
        .to_string()
    };
    for (before, count) in [
        (settings("m", "text"), 0),
        (settings("m", "other"), 2),
        (settings("n", "text"), 2),
    ] {
        let kept = rules.texts_of(&rows.list(), Some(&before)).expect("data");
        assert_eq!(kept.texts().len(), count, "{before}");
        if count == 0 {
            let vectors = kept.vectors(&Embedded::default()).expect("kept");
            assert_eq!(vectors, texts.vectors(&split()).expect("made"));
        }
    }
    // Without another text, a lower limit keeps the vectors, and other passages do not.
    for (passages, count) in [
        (json!({ "per_record": 1 }), 0),
        (json!({ "tokens": 20 }), 2),
        (json!({ "overlap": 0 }), 2),
    ] {
        let mut before: Value = serde_json::from_str(&settings("m", "text")).expect("settings");
        before["embed"]["passages"] = passages;
        let kept = rules
            .texts_of(&rows.list(), Some(&before.to_string()))
            .expect("data");
        assert_eq!(kept.texts().len(), count, "{before}");
    }
    let vectors = texts.vectors(&split()).expect("3 vectors");
    let counts: Vec<_> = vectors
        .iter()
        .map(|(id, vectors)| (*id, vectors.scanned.len()))
        .collect();
    assert_eq!(counts, [(1, 1), (2, 2), (7, 0)]);
    let many = Embedded {
        vectors: vec![1.0, 0.0],
        splits: vec![1, 65, 0],
        fingerprint: None,
    };
    let refused = texts.vectors(&many).expect_err("too many passages");
    assert!(refused.to_string().contains("record 2"), "{refused}");
}
