//! Seeded records, vectors and filters.

use serde_json::{Map, Value, json};

/// A small generator (xorshift64*). A seed gives the same numbers on every platform.
pub(crate) struct Random(u64);

impl Random {
    /// Prints the seed, so that a failure can be run again.
    pub(crate) fn new(seed: u64) -> Self {
        println!("seed {seed}");
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// An approximately normally distributed number with variance 1.
    pub(crate) fn normal(&mut self) -> f32 {
        let sum: f32 = (0..4)
            .map(|_| (self.next() >> 40) as f32 / (1_u32 << 24) as f32)
            .sum();
        (sum - 2.0) * 1.732
    }

    pub(crate) fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// Draws vectors around a few centres with most of their length in few directions, as embeddings have.
pub(crate) struct Vectors {
    dimensions: usize,
    directions: Vec<Vec<f32>>,
    centres: Vec<Vec<f32>>,
}

impl Vectors {
    pub(crate) fn new(dimensions: usize, random: &mut Random) -> Self {
        let width = (dimensions / 8).clamp(4, 40);
        let mut draw = |count: usize, length: usize| -> Vec<Vec<f32>> {
            (0..count)
                .map(|_| (0..length).map(|_| random.normal()).collect())
                .collect()
        };
        let directions = draw(width, dimensions);
        let centres = draw(12, width);
        Self {
            dimensions,
            directions,
            centres,
        }
    }

    /// A vector of any length: the engine makes it a unit vector.
    pub(crate) fn draw(&self, random: &mut Random) -> Vec<f32> {
        let centre = &self.centres[random.below(self.centres.len())];
        let mut vector: Vec<f32> = (0..self.dimensions)
            .map(|_| 1.5 * random.normal())
            .collect();
        for (weight, direction) in centre.iter().zip(&self.directions) {
            let weight = weight + 0.7 * random.normal();
            vector
                .iter_mut()
                .zip(direction)
                .for_each(|(component, along)| *component += weight * along);
        }
        vector
    }
}

/// A moment of January 2026, `ms` after its start, as the engine prints it.
pub(crate) fn time(ms: i64) -> String {
    let (day, rest) = (ms / 86_400_000 + 1, ms % 86_400_000);
    let (hour, minute, second) = (rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60);
    format!(
        "2026-01-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z",
        rest % 1000
    )
}

const WORDS: [&str; 9] = [
    "",
    "red",
    "Red",
    "reddish",
    "blue",
    "a\"b\\",
    "naïve",
    "日本語",
    "red blue red",
];
const COLUMNS: [&str; 7] = [
    "colour",
    "size",
    "open",
    "mixed",
    "visited",
    "__proto__",
    "rare",
];
/// Times in several forms, some of them equal, and texts that are no times.
const TIMES: [&str; 12] = [
    "2026-01-09",
    "2026-01-09T00:00Z",
    "2026-01-09T02:30+02:30",
    "2026-01-09T00:00:00.0Z",
    "2026-01-09T00:00:00.000000001Z",
    "2026-01-08T23:59:59.999999999Z",
    "2026-01-08T23:59:59.9Z",
    "2026-01-10T00:00+00:01",
    "2026-01-21",
    "2026-01-09 00:00Z",
    "2026-01",
    "soon",
];

/// A number as the engine writes it: a whole one without decimals.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 {
        json!(value as i64)
    } else {
        json!(value)
    }
}

fn random_value(column: &str, random: &mut Random) -> Value {
    match column {
        "colour" => json!(random.pick(&WORDS)),
        "size" => number(random.below(50) as f64 / 4.0 - 3.0),
        "open" => json!(random.chance(50)),
        "visited" if random.chance(40) => json!(format!("2026-01-{:02}", 1 + random.below(28))),
        "visited" => json!(random.pick(&TIMES)),
        "__proto__" => json!(format!("{} {}", random.pick(&WORDS), random.below(300))),
        _ => match random.below(4) {
            0 => Value::Null,
            1 => json!(random.below(5)),
            2 => json!(random.chance(50)),
            _ => json!(random.pick(&WORDS)),
        },
    }
}

/// A value of a column to compare with.
fn not_null(column: &str, random: &mut Random) -> Value {
    let value = random_value(column, random);
    if value.is_null() { json!(1) } else { value }
}

/// A record's data: most columns, some of them with lists, and sometimes a value of an unusual type.
pub(crate) fn random_data(random: &mut Random) -> Map<String, Value> {
    let mut data = Map::new();
    for column in COLUMNS {
        if random.chance(if column == "rare" { 2 } else { 85 }) {
            let value = if random.chance(15) {
                let elements = (0..random.below(4)).map(|_| not_null(column, random));
                Value::Array(elements.collect())
            } else {
                random_value(column, random)
            };
            data.insert(column.to_owned(), value);
        }
    }
    data
}

/// Random boosts of every kind, whose weights are at most `weight` together.
pub(crate) fn random_boosts(random: &mut Random, mut weight: f64) -> Value {
    let boosts = (0..random.below(4)).map(|_| {
        let own = weight * [0.0, 0.1, 0.5, 1.0][random.below(4)];
        weight -= own;
        // Weights of whole steps, so that their sum is not above the limit.
        let own = (own * 1e9).floor() / 1e9;
        let scale = |random: &mut Random| {
            let millisecond = json!(1 + random.below(1 << 30));
            [json!("P3D"), json!("PT36H"), millisecond][random.below(3)].clone()
        };
        match random.below(5) {
            0 => json!({ "weight": own, "filter": random_filter(random, 2) }),
            1 => json!({ "weight": own, "column": "visited", "target": TIMES[random.below(9)], "scale": scale(random) }),
            2 => json!({
                "weight": own,
                "time": random.pick(&["created_at", "changed_at", "synced_at", "last_seen_time"]),
                "target": time(random.below(600) as i64 * 3_600_000),
                "scale": scale(random),
            }),
            _ => json!({
                "weight": own,
                "column": random.pick(&["size", "size", "mixed", "rare", "never seen"]),
                "target": random.below(40) as f64 / 3.0 - 3.0,
                "scale": *random.pick(&[1e-300, 0.7, 3.0, 1e300]),
            }),
        }
    });
    boosts.collect()
}

/// A random filter that may use every operator, with at most `depth` nested groups.
pub(crate) fn random_filter(random: &mut Random, depth: usize) -> Value {
    const ANY: [&str; 6] = [
        "equals",
        "not_equals",
        "is_empty",
        "is_not_empty",
        "in",
        "not_in",
    ];
    const DATES: [&str; 4] = ["before", "after", "on_or_before", "on_or_after"];
    const NUMBERS: [&str; 4] = [
        "greater_than",
        "less_than",
        "greater_than_or_equals",
        "less_than_or_equals",
    ];
    const TEXTS: [&str; 4] = ["contains", "not_contains", "starts_with", "ends_with"];
    let mut rules = Vec::new();
    for _ in 0..=random.below(3) {
        if depth > 1 && random.chance(30) {
            rules.push(random_filter(random, depth - 1));
            continue;
        }
        let column = if random.chance(3) {
            "never seen"
        } else {
            *random.pick(&COLUMNS)
        };
        rules.push(match random.below(4) {
            0 => match *random.pick(&ANY) {
                operator @ ("equals" | "not_equals") => {
                    let value = not_null(column, random);
                    json!({ "column": column, "operator": operator, "value": value })
                }
                operator @ ("in" | "not_in") => {
                    let count = *random.pick(&[1, 2, 5, 40]);
                    let values: Vec<Value> = (0..count).map(|_| not_null(column, random)).collect();
                    json!({ "column": column, "operator": operator, "value": values })
                }
                operator => json!({ "column": column, "operator": operator }),
            },
            1 => {
                let value = random.below(60) as f64 / 4.0 - 4.0;
                json!({ "column": if random.chance(70) { "size" } else { column }, "operator": random.pick(&NUMBERS), "value": value })
            }
            2 => {
                let column = if random.chance(70) { "visited" } else { column };
                json!({ "column": column, "operator": random.pick(&DATES), "value": random.pick(&TIMES[..9]) })
            }
            _ => json!({ "column": column, "operator": random.pick(&TEXTS), "value": random.pick(&["", "r", "red", "ue", " 1", "日"]) }),
        });
    }
    json!({ "condition": if random.chance(60) { "AND" } else { "OR" }, "rules": rules })
}
