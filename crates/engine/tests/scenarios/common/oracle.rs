//! The oracle: a naive implementation that scores and filters every record, sorts the matches and cuts the page.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::random::time;

/// The namespace of the UUIDs of keys.
const KEYS: Uuid = Uuid::from_u128(0x6d3f_3c1e_5b0a_4a7e_9a5e_2f6c_1c0d_8b41);

/// The UUID of the record that has this key.
pub(crate) fn uuid_of_key(key: &str) -> String {
    Uuid::new_v5(&KEYS, key.as_bytes()).to_string()
}

/// A record of the oracle. Times are in milliseconds after the start of January 2026.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) id: u64,
    pub(crate) uuid: String,
    /// Every third record has one.
    pub(crate) key: Option<String>,
    pub(crate) data: Map<String, Value>,
    pub(crate) vector: Vec<f32>,
    /// The vectors of the passages after the first, of a record with several.
    pub(crate) later: Vec<Vec<f32>>,
    /// The unit vectors of `vector` and `later`.
    units: Vec<Vec<i64>>,
    pub(crate) created: i64,
    pub(crate) changed: i64,
    pub(crate) synced: i64,
}

impl Known {
    pub(crate) fn new(id: u64, data: Map<String, Value>, vector: Vec<f32>, at: i64) -> Self {
        // The UUIDs are not in the order of the ids, so that the variants order ties differently.
        let key = id.is_multiple_of(3).then(|| format!("key:№ {id}/\u{0}"));
        let uuid = match &key {
            Some(key) => uuid_of_key(key),
            None => format!(
                "{:08x}-0000-4000-8000-{id:012x}",
                (id as u32).wrapping_mul(2_654_435_761)
            ),
        };
        let units = vec![unit(&vector)];
        Self {
            id,
            uuid,
            key,
            data,
            vector,
            later: Vec::new(),
            units,
            created: at,
            changed: at,
            synced: at,
        }
    }

    /// The record with more passages.
    pub(crate) fn with_later(mut self, later: Vec<Vec<f32>>) -> Self {
        self.units.extend(later.iter().map(|vector| unit(vector)));
        self.later = later;
        self
    }

    /// The score of the best passage and its number, the first of several with that score.
    fn best(&self, query: &[i64]) -> (u32, usize) {
        let scores = self.units.iter().map(|unit| score(query, unit));
        let best = scores.enumerate().map(|(at, score)| (score, Reverse(at)));
        let (score, Reverse(at)) = best.max().expect("a vector");
        (score, at)
    }

    /// The place of a passage, in the column `text`.
    pub(crate) fn place(passage: usize) -> Value {
        json!({ "column": "text", "start": passage, "end": passage + 2 })
    }

    /// The record as an upsert sends it, without its vector.
    pub(crate) fn to_json(&self) -> Value {
        let mut sent = json!({
            "id": self.id, "uuid": self.uuid, "data": self.data,
            "timestamps": { "created_at": time(self.created), "changed_at": time(self.changed), "synced_at": time(self.synced) },
        });
        if let Some(key) = &self.key {
            sent["key"] = json!(key);
        }
        sent
    }

    /// The record as a page shows it.
    fn shown(&self, variant: &str, score: Option<u32>) -> Value {
        let names = match variant {
            "uuid" | "both" => ["created_at", "changed_at", "synced_at"],
            _ => ["first_seen_time", "last_changed_time", "last_seen_time"],
        };
        let id = if variant == "uuid" {
            json!(self.uuid)
        } else {
            json!(self.id)
        };
        let mut shown = json!({ "id": id, "data": self.data });
        if variant == "both" {
            shown["uuid"] = json!(self.uuid);
        }
        if let Some(key) = &self.key {
            shown["key"] = json!(key);
        }
        for (name, ms) in names
            .into_iter()
            .zip([self.created, self.changed, self.synced])
        {
            shown["timestamps"][name] = json!(time(ms));
        }
        if let Some(score) = score {
            shown["relevance_score"] = json!(f64::from(score) / 1e9);
        }
        // 0 and 1 are written without decimals.
        if matches!(score, Some(0 | 1_000_000_000)) {
            shown["relevance_score"] = json!(score.unwrap_or(0) / 1_000_000_000);
        }
        shown
    }

    fn key(&self, variant: &str) -> (&str, u64) {
        if variant == "uuid" {
            (&self.uuid, 0)
        } else {
            ("", self.id)
        }
    }
}

/// Components of the unit vector in steps of 2^-30.
fn unit(vector: &[f32]) -> Vec<i64> {
    let length = vector
        .iter()
        .map(|&x| f64::from(x) * f64::from(x))
        .sum::<f64>()
        .sqrt();
    vector
        .iter()
        .map(|&x| (f64::from(x) * (f64::from(1 << 30) / length)).round() as i64)
        .collect()
}

/// The relevance score in steps of 1e-9.
fn score(a: &[i64], b: &[i64]) -> u32 {
    let dot: i64 = a.iter().zip(b).map(|(&a, &b)| a * b).sum();
    let steps = (i128::from(dot) * 1_000_000_000 + (1 << 59)) >> 60;
    // A score within 64 steps of 1 is that of the same vector, rounded.
    if steps >= 999_999_936 {
        1_000_000_000
    } else {
        steps.max(0) as u32
    }
}

/// The function that returns the score of a record with its cosine:
/// `(1 - weight - Σ weights) * cosine + weight * lexical score + Σ weight * boost`.
fn blend(request: &Value, weights: &Value) -> impl Fn(&Known, u32) -> u32 {
    let steps = |weight: &Value| (weight.as_f64().unwrap_or(0.0) * 1e9).round() as u128;
    let lexical = &request["lexical"];
    let weight = steps(&lexical["weight"]);
    let words = cosift_engine::lexical_scorer(
        lexical["text"].as_str().unwrap_or_default(),
        lexical["prefix"].as_bool().unwrap_or(false),
    );
    let boosts: Vec<(u128, Value)> = (request["boosts"].as_array().into_iter().flatten())
        .map(|boost| (steps(&boost["weight"]), boost.clone()))
        .collect();
    let weights = weights.clone();
    move |record, cosine| {
        let mut rest = 1_000_000_000;
        let mut sum = 0;
        if weight > 0 {
            let texts: Vec<(String, Option<u32>)> = match weights.as_object() {
                None => (record.data.values().filter_map(embedded_text))
                    .map(|text| (text, None))
                    .collect(),
                Some(weights) => {
                    let weight = |weight: &Value| weight.as_u64().expect("a weight") as u32;
                    let highest = weights.values().map(weight).max().expect("a column");
                    let text = |(name, of): (&String, &Value)| {
                        let text = record.data.get(name)?.as_str()?.to_owned();
                        Some((text, Some(weight(of) * 1_000 / highest)))
                    };
                    weights.iter().filter_map(text).collect()
                }
            };
            let columns: Vec<(&str, Option<u32>)> =
                texts.iter().map(|(text, part)| (&**text, *part)).collect();
            rest -= weight;
            sum += weight * u128::from(words(&columns));
        }
        for (weight, boost) in &boosts {
            rest -= weight;
            sum += weight * boost_of(boost, record);
        }
        sum += rest * u128::from(cosine);
        ((sum + 500_000_000) / 1_000_000_000) as u32
    }
}

/// The text of a value that has a string.
fn embedded_text(value: &Value) -> Option<String> {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    let texts: Vec<String> = elements(value).iter().map(text).collect();
    let is_embedded = elements(value).iter().any(Value::is_string);
    is_embedded.then(|| texts.join(", "))
}

/// The elements of a list, or else the value.
pub(crate) fn elements(value: &Value) -> &[Value] {
    match value {
        Value::Array(elements) => elements,
        value => std::slice::from_ref(value),
    }
}

/// A boost of a record, in steps of 1e-9.
fn boost_of(boost: &Value, record: &Known) -> u128 {
    if boost["filter"].is_object() {
        return 1_000_000_000 * u128::from(holds(&boost["filter"], &record.data));
    }
    let milliseconds = |text: &str| {
        let (minutes, nanoseconds) = instant(text)?;
        Some((minutes * 60_000 + nanoseconds.div_euclid(1_000_000)) as f64)
    };
    let target = boost["target"].as_f64();
    let target = target.or_else(|| milliseconds(boost["target"].as_str()?));
    let values: Vec<f64> = match boost["time"].as_str() {
        Some("created_at" | "first_seen_time") => vec![record.created as f64],
        Some("changed_at" | "last_changed_time") => vec![record.changed as f64],
        Some(_) => vec![record.synced as f64],
        None => {
            let value = boost["column"]
                .as_str()
                .and_then(|column| record.data.get(column));
            let elements = value.into_iter().flat_map(elements);
            match &boost["target"] {
                Value::String(_) => (elements.filter_map(Value::as_str))
                    .filter_map(milliseconds)
                    .collect(),
                _ => elements.filter_map(Value::as_f64).collect(),
            }
        }
    };
    let scale = match boost["scale"].as_str() {
        Some("P3D") => Some(3.0 * 86_400_000.0),
        Some("PT36H") => Some(36.0 * 3_600_000.0),
        _ => boost["scale"].as_f64(),
    };
    let (Some(target), Some(scale)) = (target, scale) else {
        return 0;
    };
    let nearness =
        |value: f64| ((1.0 - (value - target).abs() / scale).max(0.0) * 1e9 + 0.5).floor() as u128;
    values.into_iter().map(nearness).max().unwrap_or(0)
}

/// The matches of a search in order: score, number of the best passage, record.
pub(crate) struct Ranking<'a> {
    variant: String,
    with_passages: bool,
    /// The `group` of each match, if the request has `distinct`.
    groups: Option<Vec<Value>>,
    pub(crate) matches: Vec<(u32, usize, &'a Known)>,
}

impl Ranking<'_> {
    /// The first `limit` matches, as pages show them.
    pub(crate) fn shown(&self, limit: usize) -> Vec<Value> {
        let first = 0..limit.min(self.matches.len());
        first.map(|at| self.result(at)).collect()
    }

    /// The match at a place of the order, as pages show it.
    pub(crate) fn result(&self, at: usize) -> Value {
        let (score, passage, record) = self.matches[at];
        let mut shown = record.shown(&self.variant, Some(score));
        if let Some(groups) = &self.groups {
            shown["group"] = groups[at].clone();
        }
        if self.with_passages && !record.later.is_empty() {
            shown["passage"] = Known::place(passage);
        }
        shown
    }
}

/// All records by id.
#[derive(Clone, Default)]
pub(crate) struct Oracle {
    pub(crate) records: BTreeMap<u64, Known>,
    /// The weights of the columns whose words count; null for the embedded ones.
    pub(crate) word_weights: Value,
}

impl Oracle {
    /// All matches of a search, in order, as pages show them.
    pub(crate) fn search(&self, request: &Value, vector: &[f32]) -> Vec<Value> {
        self.ranking(request, vector).shown(usize::MAX)
    }

    /// All matches of a search, in order.
    pub(crate) fn ranking(&self, request: &Value, vector: &[f32]) -> Ranking<'_> {
        let variant = request["form"].as_str().unwrap_or("integer").to_owned();
        let threshold = request["threshold"].as_f64().unwrap_or(0.2);
        let query = unit(vector);
        let blended = blend(request, &self.word_weights);
        let mut matches: Vec<(u32, usize, &Known)> = self
            .records
            .values()
            .filter(|record| selected(record, request))
            .map(|record| {
                let (cosine, passage) = record.best(&query);
                (blended(record, cosine), passage, record)
            })
            .filter(|&(score, ..)| f64::from(score) / 1e9 >= threshold)
            .collect();
        matches.sort_by(|a, b| {
            b.0.cmp(&a.0)
                .then_with(|| a.2.key(&variant).cmp(&b.2.key(&variant)))
        });
        let groups = request["distinct"]["column"].as_str().map(|column| {
            let values = matches.iter().map(|(.., record)| record.data.get(column));
            let groups = groups_of(values);
            let mut is_first = groups.iter().map(Option::is_some);
            matches.retain(|_| is_first.next().unwrap_or_default());
            groups.into_iter().flatten().collect()
        });
        Ranking {
            with_passages: request["passages"] == true,
            groups,
            variant,
            matches,
        }
    }

    /// All matches of a query, in order, as pages show them.
    pub(crate) fn query(&self, request: &Value) -> Vec<Value> {
        let variant = request["form"].as_str().unwrap_or("integer");
        let mut found: Vec<&Known> = self
            .records
            .values()
            .filter(|record| selected(record, request))
            .collect();
        let sort = &request["sort"];
        let descending = if sort.is_null() {
            true
        } else {
            sort["direction"] == "desc"
        };
        found.sort_by(|a, b| {
            let order = match sort["column"].as_str() {
                Some(column) => by_value(a.data.get(column), b.data.get(column), descending),
                None => {
                    let time = |record: &Known| match sort["time"].as_str() {
                        Some("created_at" | "first_seen_time") => record.created,
                        Some("changed_at" | "last_changed_time") => record.changed,
                        _ => record.synced,
                    };
                    let order = time(a).cmp(&time(b));
                    if descending { order.reverse() } else { order }
                }
            };
            order.then_with(|| a.key(variant).cmp(&b.key(variant)))
        });
        let column = request["distinct"]["column"].as_str();
        let groups =
            column.map(|column| groups_of(found.iter().map(|record| record.data.get(column))));
        let shown = found.iter().enumerate().filter_map(|(at, record)| {
            let mut shown = record.shown(variant, None);
            if let Some(groups) = &groups {
                shown["group"] = groups[at].clone()?;
            }
            Some(shown)
        });
        shown.collect()
    }
}

/// For the first match with each value, its `group`; `None` for the other matches. Without a value, each match is the first.
fn groups_of<'a>(values: impl Iterator<Item = Option<&'a Value>>) -> Vec<Option<Value>> {
    let mut groups: Vec<Option<Value>> = Vec::new();
    let mut places = BTreeMap::new();
    for value in values {
        let value = value.unwrap_or(&Value::Null);
        // 1 and 1.0 are the same number.
        let key = value
            .as_f64()
            .map_or(value.to_string(), |number| format!("{number:?}"));
        let first = groups.len();
        let place = *places.entry(key).or_insert(first);
        if value.is_null() || place == first {
            groups.push(Some(json!({ "value": value, "count": 1 })));
            continue;
        }
        groups.push(None);
        let count = &mut groups[place].as_mut().expect("the first match")["count"];
        *count = json!(count.as_u64().map_or(1, |count| count + 1));
    }
    groups
}

/// The order is booleans, numbers, texts; of a list, the element counts that is the first one in the direction. Records
/// without a value come last in either direction.
fn by_value(a: Option<&Value>, b: Option<&Value>, descending: bool) -> Ordering {
    let first = |value: Option<&Value>| {
        let elements = value.into_iter().flat_map(elements);
        let elements = elements.filter(|element| !element.is_null());
        elements
            .min_by(|a, b| by_element(Some(a), Some(b), descending))
            .cloned()
    };
    by_element(first(a).as_ref(), first(b).as_ref(), descending)
}

fn by_element(a: Option<&Value>, b: Option<&Value>, descending: bool) -> Ordering {
    let kind = |value: &Value| match value {
        Value::Bool(_) => 0,
        Value::Number(_) => 1,
        _ => 2,
    };
    let order = match (a, b) {
        (Some(a), Some(b)) => match (a, b) {
            (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
            (Value::String(a), Value::String(b)) => a.as_bytes().cmp(b.as_bytes()),
            (a, b) if kind(a) == kind(b) => a.as_f64().partial_cmp(&b.as_f64()).expect("finite"),
            (a, b) => kind(a).cmp(&kind(b)),
        },
        (None, None) => return Ordering::Equal,
        (None, _) => return Ordering::Greater,
        (_, None) => return Ordering::Less,
    };
    if descending { order.reverse() } else { order }
}

fn selected(record: &Known, request: &Value) -> bool {
    let synced = time(record.synced);
    let range = &request["time_range"];
    range["start_time"]
        .as_str()
        .is_none_or(|start| start <= synced.as_str())
        && range["end_time"]
            .as_str()
            .is_none_or(|end| synced.as_str() <= end)
        && (request["filter"].is_null() || holds(&request["filter"], &record.data))
}

fn holds(rule: &Value, data: &Map<String, Value>) -> bool {
    if let Some(rules) = rule["rules"].as_array() {
        return match rule["condition"].as_str() {
            Some("OR") => rules.iter().any(|rule| holds(rule, data)),
            _ => rules.iter().all(|rule| holds(rule, data)),
        };
    }
    let value = rule["column"]
        .as_str()
        .and_then(|column| data.get(column))
        .unwrap_or(&Value::Null);
    let operator = rule["operator"].as_str().expect("an operator");
    let is_negative = operator.contains("not");
    let positive = operator.replace("not_", "");
    let is_empty = positive == "is_empty" && *value == json!([]);
    let mut elements = elements(value).iter();
    let holds =
        is_empty || elements.any(|element| positive_holds(&positive, element, &rule["value"]));
    holds != is_negative
}

/// Whether a positive operator holds for a value that is no list.
fn positive_holds(operator: &str, value: &Value, wanted: &Value) -> bool {
    let is = |wanted: &Value| match (value.as_f64(), wanted.as_f64()) {
        (Some(a), Some(b)) => a == b,
        _ => !value.is_null() && value == wanted,
    };
    let equal = is(wanted);
    let one_of = || wanted.as_array().expect("a list").iter().any(is);
    let number = |test: fn(&f64, &f64) -> bool| {
        value
            .as_f64()
            .zip(wanted.as_f64())
            .is_some_and(|(value, wanted)| test(&value, &wanted))
    };
    let text = |test: fn(&str, &str) -> bool| {
        value
            .as_str()
            .zip(wanted.as_str())
            .is_some_and(|(value, wanted)| test(value, wanted))
    };
    let instant = |test: fn(&(i64, i64), &(i64, i64)) -> bool| {
        let wanted = wanted.as_str().and_then(instant).expect("a time");
        let value = value.as_str().and_then(instant);
        value.is_some_and(|value| test(&value, &wanted))
    };
    let empty = value.is_null() || value == "";
    match operator {
        "equals" => equal,
        "greater_than" => number(f64::gt),
        "less_than" => number(f64::lt),
        "greater_than_or_equals" => number(f64::ge),
        "less_than_or_equals" => number(f64::le),
        "contains" => text(|value, wanted| value.contains(wanted)),
        "starts_with" => text(|value, wanted| value.starts_with(wanted)),
        "ends_with" => text(|value, wanted| value.ends_with(wanted)),
        "is_empty" => empty,
        "in" => one_of(),
        "before" => instant(<(i64, i64)>::lt),
        "after" => instant(<(i64, i64)>::gt),
        "on_or_before" => instant(<(i64, i64)>::le),
        "on_or_after" => instant(<(i64, i64)>::ge),
        other => panic!("unknown operator {other}"),
    }
}

/// Minutes since the start of January 2026, UTC, and nanoseconds, of a time of the random records.
fn instant(text: &str) -> Option<(i64, i64)> {
    let (date, time) = text.split_once('T').unwrap_or((text, "00:00Z"));
    let day: i64 = date.strip_prefix("2026-01-")?.parse().ok()?;
    let (time, offset) = match time.split_once('+') {
        Some((time, offset)) => (time, minutes(offset)?),
        None => (time.strip_suffix('Z')?, 0),
    };
    let nanoseconds = match time.get(5..) {
        Some("") => 0,
        Some(rest) => {
            let (seconds, fraction) = rest.strip_prefix(':')?.split_once('.')?;
            let seconds: i64 = seconds.parse().ok()?;
            seconds * 1_000_000_000 + format!("{fraction:0<9}").parse::<i64>().ok()?
        }
        None => return None,
    };
    Some((
        (day - 1) * 1440 + minutes(&time[..5])? - offset,
        nanoseconds,
    ))
}

/// The minutes of `hh:mm`.
fn minutes(text: &str) -> Option<i64> {
    let (hours, minutes) = text.split_once(':')?;
    Some(hours.parse::<i64>().ok()? * 60 + minutes.parse::<i64>().ok()?)
}

/// The results of a page, with numbers as the oracle writes them.
pub(crate) fn hits(page: &Value) -> Vec<Value> {
    page["results"].as_array().expect("results").clone()
}

/// The `total` of a page.
pub(crate) fn total(page: &Value) -> u64 {
    page["total"]["value"].as_u64().expect("a total")
}
