//! Requests for facets that are refused.

use serde_json::json;

use crate::facets::Facet;
use crate::record::ValidationCode;

#[test]
fn bad_facets_are_refused_with_their_pointers() {
    use ValidationCode::{InvalidColumn, InvalidValue, MissingMember, UnknownMember, WrongType};
    for (facets, expected) in [
        (json!({}), vec![("/facets", InvalidValue)]),
        (json!([]), vec![("/facets", InvalidValue)]),
        (
            json!(vec![json!({ "column": "a" }); 17]),
            vec![("/facets", InvalidValue)],
        ),
        (
            json!([{ "column": "a" }, 7]),
            vec![("/facets/1", WrongType)],
        ),
        (json!([{}]), vec![("/facets/0", MissingMember)]),
        (
            json!([{ "column": "" }]),
            vec![("/facets/0/column", InvalidColumn)],
        ),
        (
            json!([{ "column": 1 }]),
            vec![("/facets/0/column", InvalidValue)],
        ),
        (
            json!([{ "column": "a", "limit": 0 }]),
            vec![("/facets/0/limit", InvalidValue)],
        ),
        (
            json!([{ "column": "a", "limit": 101 }]),
            vec![("/facets/0/limit", InvalidValue)],
        ),
        (
            json!([{ "column": "a", "limit": "5" }]),
            vec![("/facets/0/limit", InvalidValue)],
        ),
        (
            json!([{ "column": "a", "type": "range" }]),
            vec![("/facets/0/type", InvalidValue)],
        ),
        (
            json!([{ "column": "a", "interval": 5 }]),
            vec![("/facets/0/interval", UnknownMember)],
        ),
        (
            json!([{ "column": "a", "type": "histogram" }]),
            vec![("/facets/0", MissingMember)],
        ),
        (
            json!([{ "column": "a", "type": "histogram", "interval": 0 }]),
            vec![("/facets/0/interval", InvalidValue)],
        ),
        (
            json!([{ "time": "synced", "interval": "decade" }]),
            vec![("/facets/0/interval", InvalidValue)],
        ),
        (
            json!([{ "time": "seen", "column": "a" }]),
            vec![
                ("/facets/0/column", UnknownMember),
                ("/facets/0/time", InvalidValue),
                ("/facets/0", MissingMember),
            ],
        ),
    ] {
        let problems = Facet::parse_list(&facets)
            .expect_err("it is bad")
            .problems();
        let found: Vec<_> = problems
            .iter()
            .map(|problem| (problem.pointer.as_str(), problem.code))
            .collect();
        assert_eq!(found, expected, "{facets}");
    }
}
