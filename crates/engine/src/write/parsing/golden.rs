//! The golden records, which the tests in TypeScript read too.

use crate::json::{Json, check, parse, write_cells};
use crate::limits::Limits;
use crate::record::{ValidationCode, ValidationError};
use crate::write::parsing::{parse_batch, parse_data, parse_line};

const CASES: &[u8] = include_bytes!("../../../../../test/golden/records.json");
/// Data and what becomes of it with the setting `flatten`, also in files that are imported with `--flatten`.
const FLATTENED: &[u8] = include_bytes!("../../../../../test/golden/flattened.json");

struct Case {
    name: String,
    text: String,
    problems: Vec<(String, String)>,
}

fn text(json: &Json<'_>, name: &str) -> String {
    match member(json, name) {
        Json::Text(text) => text.to_string(),
        other => panic!("{other:?} is no string"),
    }
}

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

fn cases() -> Vec<Case> {
    let Json::Array(cases) = parse(CASES, 8).expect("the file is JSON") else {
        panic!("a list")
    };
    let case = |json: &Json<'_>| {
        let Json::Array(problems) = member(json, "problems") else {
            panic!("a list")
        };
        Case {
            name: text(json, "name"),
            text: text(json, "text"),
            problems: problems
                .iter()
                .map(|json| (text(json, "pointer"), text(json, "code")))
                .collect(),
        }
    };
    cases.iter().map(case).collect()
}

fn plain(problems: Vec<ValidationError>) -> Vec<(String, String)> {
    problems
        .into_iter()
        .map(|p| (p.pointer, p.code.as_str().to_owned()))
        .collect()
}

#[test]
fn every_record_is_taken_or_refused_as_the_file_says() {
    for case in cases() {
        let found = parse_line(case.text.as_bytes(), false, false, &Limits::default())
            .map(drop)
            .map_err(plain)
            .err();
        assert_eq!(found.unwrap_or_default(), case.problems, "{}", case.name);
    }
}

#[test]
fn a_record_means_the_same_in_a_batch() {
    for case in cases() {
        let batch = format!("{{\"records\":[{{\"data\":{{}}}},{}]}}", case.text);
        let found = parse_batch(batch.as_bytes(), false, &Limits::default());
        match parse_line(case.text.as_bytes(), false, false, &Limits::default()) {
            Ok(record) => assert_eq!(found.expect("a good batch")[1], record, "{}", case.name),
            Err(problems) if problems[0].code == ValidationCode::MalformedJson => {
                // "Two records" are malformed alone, and so they are in an array without a comma.
                assert!(found.is_err(), "{}", case.name);
            }
            Err(problems) if problems[0].code == ValidationCode::TooDeep => assert!(found.is_err()),
            Err(problems) => {
                let expected: Vec<_> = plain(problems)
                    .into_iter()
                    .map(|(p, c)| (format!("/records/1{p}"), c))
                    .collect();
                assert_eq!(
                    plain(found.expect_err("a bad batch")),
                    expected,
                    "{}",
                    case.name
                );
            }
        }
    }
}

#[test]
fn objects_are_flattened_as_the_file_says() {
    let Json::Array(cases) = parse(FLATTENED, 8).expect("the file is JSON") else {
        panic!("a list")
    };
    for case in &cases {
        let line = format!("{{\"data\":{}}}", text(case, "data"));
        let batch = format!("{{\"records\":[{line}]}}");
        let limits = Limits::default();
        let found = parse_line(line.as_bytes(), false, true, &limits).map_err(plain);
        let batched = parse_batch(batch.as_bytes(), true, &limits);
        let name = text(case, "name");
        match member(case, "problem") {
            Json::Null => {
                let record = found.expect(&name);
                let mut out = Vec::new();
                write_cells(&record.data, &mut out);
                assert_eq!(String::from_utf8_lossy(&out), text(case, "flat"), "{name}");
                assert_eq!(batched.expect(&name)[0].data, record.data, "{name}");
            }
            problem => {
                let expected = (text(problem, "pointer"), text(problem, "code"));
                assert_eq!(found.expect_err(&name), [expected], "{name}");
                assert!(batched.is_err(), "{name}");
            }
        }
    }
}

#[test]
fn names_of_flattened_columns_are_bounded() {
    let limits = Limits {
        record_bytes: 60,
        ..Limits::default()
    };
    let line = |members: &str| format!("{{\"data\":{{\"aaaaaaaaaa\":{{{members}}}}}}}");
    let parsed = |text: String| parse_line(text.as_bytes(), false, true, &limits).map_err(plain);
    let five = r#""b":1,"c":1,"d":1,"e":1,"f":1"#;
    assert!(parsed(line(five)).is_ok());
    let too_large = ("/data/aaaaaaaaaa/g".to_owned(), "too_large".to_owned());
    let six = parsed(line(&format!(r#"{five},"g":1"#)));
    assert_eq!(six.expect_err("long names"), [too_large]);
}

#[test]
fn data_is_written_as_it_was_read() {
    for case in cases().iter().filter(|case| case.problems.is_empty()) {
        let record = parse_line(case.text.as_bytes(), false, false, &Limits::default())
            .expect("a good record");
        let mut out = Vec::new();
        write_cells(&record.data, &mut out);
        assert_eq!(
            parse_data(&out).expect("own JSON"),
            record.data,
            "{}",
            case.name
        );
        assert_eq!(check(&out, 2), Ok(()));
    }
}

#[test]
fn a_record_is_read_as_it_stands() {
    let record = parse_line(
        br#"{"vector":[1,0.1],"id":7,"uuid":"0190A0B2-7c3d-7abc-8def-0123456789ab",
            "data":{"b":"\u00e9\ud834\udd1e","a":-0},"timestamps":{"last_seen_time":"1970-01-02"}}"#,
        false, false, &Limits::default()
    )
    .expect("a good record");
    assert_eq!(
        (record.id, record.uuid.map(|uuid| uuid[0])),
        (Some(7), Some(0x01))
    );
    assert_eq!(record.vector, Some(vec![1.0, 0.1]));
    assert_eq!(
        (record.created, record.changed, record.synced),
        (None, None, Some(86_400_000))
    );
    let mut out = Vec::new();
    write_cells(&record.data, &mut out);
    assert_eq!(
        String::from_utf8(out).expect("UTF-8"),
        r#"{"b":"é𝄞","a":0}"#
    );
}

#[test]
fn invalid_utf8_and_sizes_are_refused() {
    let problems = parse_line(
        b"{\"data\":{\"a\":\"\xff\"}}",
        false,
        false,
        &Limits::default(),
    )
    .expect_err("not UTF-8");
    assert_eq!(
        plain(problems),
        [(String::new(), "malformed_json".to_owned())]
    );
    let one = Limits {
        batch_records: 1,
        ..Limits::default()
    };
    let problems = parse_batch(br#"{"records":[{"data":{}},{"data":{}},{}]}"#, false, &one)
        .expect_err("too many");
    assert_eq!(
        plain(problems),
        [("/records/1".to_owned(), "too_many_records".to_owned())]
    );
    let problems = parse_batch(br#"{}"#, false, &one).expect_err("no records");
    assert_eq!(
        plain(problems),
        [(String::new(), "missing_member".to_owned())]
    );
    let small = Limits {
        record_bytes: 20,
        ..Limits::default()
    };
    let batch =
        br#"{"records":[{"data":{"a":12345}} , {"data":{"a":1234567}} ,{"data":{"a":1234}}]}"#;
    let problems = parse_batch(batch, false, &small).expect_err("too large");
    assert_eq!(
        plain(problems),
        [("/records/1".to_owned(), "too_large".to_owned())]
    );
    // The vectors of passages are longer than the text that they are made of.
    let passages =
        br#"{"data":{"a":12345}, "passages": [{"column":"a","start":0,"end":5,"vector":[1,0]}]}"#;
    let small = Limits {
        record_bytes: 33,
        ..small
    };
    assert_eq!(
        parse_line(passages, false, false, &small).map(|record| record.bytes),
        Ok(33)
    );
    let smaller = Limits {
        record_bytes: 32,
        ..small
    };
    let problems = parse_line(passages, false, false, &smaller).expect_err("too large");
    assert_eq!(plain(problems), [(String::new(), "too_large".to_owned())]);
    let deep = "[".repeat(65) + &"]".repeat(65);
    assert_eq!(check(deep.as_bytes(), 65), Ok(()));
    assert_eq!(
        check(deep.as_bytes(), 64).expect_err("too deep").code,
        ValidationCode::TooDeep
    );
}

#[test]
fn an_answer_stays_short_however_much_is_wrong() {
    let numbers = vec!["\"x\""; 100_000].join(",");
    let problems = parse_line(
        format!("{{\"data\":{{}},\"vector\":[{numbers}]}}").as_bytes(),
        false,
        false,
        &Limits::default(),
    );
    assert_eq!(problems.expect_err("no numbers").len(), 100);
}
