//! A golden response that has every member of a facet.

use std::sync::Arc;

use serde_json::json;

use crate::columns::{ColumnNames, Mask};
use crate::facets::{Facet, FacetCounter};
use crate::record::{OwnedValue, RecordId, RecordRow, RecordUuid, Vectors};
use crate::runtime::StopCheck;
use crate::snapshot::{Basis, Block, NewRow, Times};

/// Counts three towers; the response has every member of a facet.
#[test]
fn the_response_is_the_golden_one() {
    let mut names = ColumnNames::default();
    let (country, height, open) = (
        names.insert("country"),
        names.insert("height_m"),
        names.insert("open"),
    );
    let text = |text: &str| OwnedValue::Text(text.into());
    let cells = [
        vec![
            (country, text("France")),
            (height, OwnedValue::Number(330.0)),
            (open, OwnedValue::Boolean(true)),
        ],
        vec![
            (country, text("UAE")),
            (height, OwnedValue::Number(828.0)),
            (open, text("true")),
        ],
        vec![
            (country, text("France")),
            (height, OwnedValue::Number(-0.5)),
            (open, OwnedValue::Number(1.0)),
        ],
        vec![(country, OwnedValue::Null), (height, text("tall"))],
    ];
    // The last second of a leap year's February, its first of March, a Monday's midnight, a Sunday.
    let times = [1_709_251_199_999, 1_709_251_200_000, 1_709_510_400_000, -1];
    let rows: Vec<NewRow> = (1..)
        .zip(cells.into_iter().zip(times))
        .map(|(id, (cells, time))| NewRow {
            id: RecordId(id),
            uuid: RecordUuid([id as u8; 16]),
            key: None,
            times: Times {
                created: time,
                changed: time,
                synced: time,
            },
            cells,
            vectors: Vectors::one(vec![1 << 30, 0, 0, 0, 0, 0, 0, 0]),
        })
        .collect();
    let block = Block::build(RecordRow(0), 8, &rows, &Arc::new(Basis::untrained(8)));
    let facets = Facet::parse_list(&json!([
        { "column": "country", "limit": 1 },
        { "column": "open" },
        { "column": "height_m", "type": "histogram", "interval": 250 },
        { "time": "synced", "interval": "month" },
        { "time": "created", "interval": "week" },
    ]))
    .expect("they parse");
    let counter = FacetCounter::bind(&facets, &names);
    counter.count(&block, &Mask::full(4)).expect("few values");
    let response = String::from_utf8(
        counter
            .write(usize::MAX, &StopCheck::never())
            .expect("few intervals"),
    )
    .expect("UTF-8");
    let expected = [
        r#"[{"column":"country","type":"values","values":[{"value":"France","count":2}],"other":1,"missing":1}"#,
        r#"{"column":"open","type":"values","values":[{"value":true,"count":1},{"value":1,"count":1},{"value":"true","count":1}],"other":0,"missing":1}"#,
        r#"{"column":"height_m","type":"histogram","interval":250,"buckets":[{"from":-250,"count":1},{"from":250,"count":1},{"from":750,"count":1}],"missing":1}"#,
        r#"{"time":"synced","interval":"month","buckets":[{"from":"1969-12-01T00:00:00.000Z","count":1},{"from":"2024-02-01T00:00:00.000Z","count":1},{"from":"2024-03-01T00:00:00.000Z","count":2}]}"#,
        r#"{"time":"created","interval":"week","buckets":[{"from":"1969-12-29T00:00:00.000Z","count":1},{"from":"2024-02-26T00:00:00.000Z","count":2},{"from":"2024-03-04T00:00:00.000Z","count":1}]}]"#,
    ];
    assert_eq!(response, expected.join(","));
}
