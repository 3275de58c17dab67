//! The golden cases, which the TypeScript tests read as well.

use std::borrow::Cow;

use crate::columns::{ColumnNames, ColumnsBuilder, Mask};
use crate::filter::ast::{Condition, Filter};
use crate::json::{self, Json};
use crate::limits::FilterLimits;
use crate::record::{Data, OwnedValue};
use crate::runtime::StopCheck;

const CASES: &[u8] = include_bytes!("../../../../../test/golden/filter.json");

fn member<'m, 'a>(json: &'m Json<'a>, name: &str) -> &'m Json<'a> {
    let Json::Object(members) = json else {
        panic!("{json:?} is no object")
    };
    &members
        .iter()
        .find(|(known, _)| known == name)
        .unwrap_or_else(|| panic!("no {name}"))
        .1
}

fn cases(part: &str) -> Vec<Json<'static>> {
    let file = json::parse(CASES, 128).expect("the file is JSON");
    let Json::Array(cases) = member(&file, part) else {
        panic!("{part} is a list")
    };
    cases.clone()
}

fn data(json: &Json<'_>) -> Data {
    let Json::Object(members) = json else {
        panic!("data is an object")
    };
    let cell = |(name, value): &(Cow<'_, str>, Json<'_>)| {
        let value = match value {
            Json::Null => OwnedValue::Null,
            Json::Boolean(boolean) => OwnedValue::Boolean(*boolean),
            Json::Number(number) => OwnedValue::Number(*number),
            Json::Text(text) => OwnedValue::Text(text.as_ref().into()),
            other => panic!("{other:?} is no value"),
        };
        (name.as_ref().into(), value)
    };
    Data::new(members.iter().map(cell).collect())
}

#[test]
fn every_case_matches_as_the_file_says() {
    let cases = cases("matches");
    // All records are in one block, so that columns have values of several types, as in a real block.
    let mut names = ColumnNames::default();
    let mut builder = ColumnsBuilder::default();
    for case in &cases {
        builder.push_data(&data(member(case, "data")), &mut names);
    }
    let columns = builder.finish();
    let stop_check = &StopCheck::never();
    for (slot, case) in cases.iter().enumerate() {
        let filter = Filter::parse(member(case, "filter"), &FilterLimits::default(), None)
            .unwrap_or_else(|problems| panic!("{case:?}: {problems:?}"));
        let bound = filter.bind(&names);
        let expected = *member(case, "matches") == Json::Boolean(true);
        let name = member(case, "name");
        assert_eq!(
            bound.matches(&columns, slot, stop_check),
            Ok(expected),
            "{name:?}"
        );
        assert_eq!(
            filter
                .bind_explained(&names)
                .explain(&columns, slot, String::new(), stop_check)
                .expect("no stop")
                .held,
            expected,
            "{name:?}"
        );
        let mut only = Mask::empty();
        only.set(slot);
        assert_eq!(
            bound
                .mask(&columns, &only, stop_check)
                .expect("no stop")
                .get(slot),
            expected,
            "{name:?}, mask of one"
        );
        let all = bound
            .mask(&columns, &Mask::full(columns.len()), stop_check)
            .expect("no stop");
        assert_eq!(all.get(slot), expected, "{name:?}, mask of all");
    }
}

#[test]
fn every_bad_filter_is_refused_with_its_pointers() {
    for case in cases("refused") {
        let problems = Filter::parse(member(&case, "filter"), &FilterLimits::default(), None)
            .expect_err("it is bad");
        let Json::Array(expected) = member(&case, "problems") else {
            panic!("a list")
        };
        let text = |json: &Json<'_>, name| match member(json, name) {
            Json::Text(text) => text.to_string(),
            other => panic!("{other:?} is no string"),
        };
        let expected: Vec<_> = expected
            .iter()
            .map(|json| (text(json, "pointer"), text(json, "code")))
            .collect();
        let found: Vec<_> = problems
            .into_iter()
            .map(|problem| (problem.pointer, problem.code.as_str().to_owned()))
            .collect();
        assert_eq!(found, expected, "{:?}", member(&case, "name"));
    }
}

#[test]
fn a_filter_without_a_condition_gets_the_default() {
    let text = br#"{"rules":[{"column":"a","operator":"is_empty"}]}"#;
    let limits = FilterLimits::default();
    let filter = Filter::from_json(text, &limits, Some(Condition::And)).expect("it parses");
    assert_eq!(filter.root.condition, Condition::And);
    assert!(Filter::from_json(text, &limits, None).is_err());
}
