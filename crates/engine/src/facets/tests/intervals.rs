//! The number of intervals, and their start values.

use serde_json::json;

use crate::columns::{ColumnNames, Mask};
use crate::facets::tests::support::{Random, block_of, blocks, counted};
use crate::facets::{Facet, FacetCounter};
use crate::runtime::StopCheck;

#[test]
fn too_many_intervals_are_refused_with_the_facet() {
    let mut names = ColumnNames::default();
    let lens = [4096, 4096, 4096];
    let blocks = blocks(&mut Random(7), &lens, &mut names);
    let facets = json!([{ "column": "whole" }, { "time": "created", "interval": "minute" }]);
    let counter = FacetCounter::bind(&Facet::parse_list(&facets).expect("they parse"), &names);
    blocks.iter().for_each(|block| {
        counter
            .count(block, &Mask::full(4096))
            .expect("little memory")
    });
    let problems = counter
        .write(usize::MAX, &StopCheck::never())
        .expect_err("12,288 records, nearly a minute each")
        .problems();
    assert_eq!(problems[0].pointer, "/facets/1/interval");
}

#[test]
fn every_interval_begins_with_a_value_that_a_filter_takes() {
    let first = crate::json::parse_time("0000-01-01")
        .expect("a time")
        .milliseconds;
    let last = crate::json::parse_time("9999-12-31T23:59:59.999Z")
        .expect("a time")
        .milliseconds;
    let (names, block) = block_of(
        &[-1.7e308, 1.7e308, 0.0],
        &[first, last, first + 5 * 86_400_000],
    );
    for interval in ["minute", "hour", "day", "week", "month", "year"] {
        let facets = json!([{ "time": "created", "interval": interval }]);
        let response = counted(&facets, &names, &block).expect("few intervals");
        let buckets = response[0]["buckets"].as_array().expect("a list");
        for bucket in buckets {
            let from = bucket["from"].as_str().expect("a time");
            let from = crate::json::parse_time(from)
                .expect("a time that is accepted")
                .milliseconds;
            assert!((first..=last).contains(&from), "{bucket}");
        }
        let counts: Vec<_> = buckets
            .iter()
            .map(|bucket| bucket["count"].as_u64())
            .collect();
        let alone = ["minute", "hour", "day", "week"].contains(&interval);
        let expected = if alone {
            vec![Some(1); 3]
        } else {
            vec![Some(2), Some(1)]
        };
        assert_eq!(counts, expected, "{interval}");
    }

    let histogram = |interval: f64| json!([{ "column": "a" }, { "column": "a", "type": "histogram", "interval": interval }]);
    // -1.7e308 is in the interval that starts at -2e308, which is not a double.
    let error = counted(&histogram(1e308), &names, &block).expect_err("the bound is not a double");
    assert_eq!(error.code(), "invalid_request");
    assert_eq!(error.problems()[0].pointer, "/facets/1/interval");
    for interval in [1.7e308, f64::MAX, 1e300, 1.0, f64::MIN_POSITIVE, 5e-324] {
        let response = counted(&histogram(interval), &names, &block);
        let response = response.expect("bounds that doubles hold");
        for bucket in response[1]["buckets"].as_array().expect("a list") {
            let from = bucket["from"].as_f64().expect("a number");
            assert!(from.is_finite(), "{interval}: {bucket}");
        }
    }
    let (names, block) = block_of(&[1.7e308, -1e308], &[0, 0]);
    let response = counted(&histogram(1e308), &names, &block).expect("both begin at doubles");
    let expected = json!([{ "from": -1e308, "count": 1 }, { "from": 1e308, "count": 1 }]);
    assert_eq!(response[1]["buckets"], expected);
}
