use super::lexical_scorer;
use crate::lexical::LexicalQuery;

const ONE: u32 = 1_000_000_000;

fn lexical_score(text: &str, columns: &[&str]) -> u32 {
    score(text, false, columns)
}

fn score(text: &str, is_unfinished: bool, columns: &[&str]) -> u32 {
    let columns: Vec<_> = columns.iter().map(|column| (*column, None)).collect();
    lexical_scorer(text, is_unfinished)(&columns)
}

/// A reproducible stream of numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound
    }

    fn word(&mut self) -> String {
        const WORDS: [&str; 16] = [
            "editor",
            "editors",
            "gcc",
            "libgtk",
            "libgtk3",
            "the",
            "of",
            "firefox",
            "postgresql",
            "g++",
            "été",
            "日",
            "kernel",
            "pyhton",
            "python",
            "a",
        ];
        WORDS[self.below(WORDS.len())].to_owned()
    }

    fn text(&mut self, max: usize) -> String {
        let words: Vec<String> = (0..self.below(max)).map(|_| self.word()).collect();
        words.join([" ", "-", ", "][self.below(3)])
    }
}

#[test]
fn a_first_column_that_equals_the_query_has_the_highest_score() {
    let mut random = Random(1);
    for round in 0..5_000 {
        let query = format!("{} {}", random.word(), random.text(6));
        let columns = [random.text(6), random.text(12)];
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        let score = lexical_score(&query, &columns);
        assert!(score <= ONE);
        let first = columns.iter().find(|column| !column.is_empty());
        let equals = first.is_some_and(|column| column.trim() == query.trim());
        assert_eq!(score == ONE, equals, "round {round}: {query:?} {columns:?}");
        assert_eq!(
            lexical_score(&query, &[&query.to_uppercase(), "more text"]),
            ONE
        );
    }
}

#[test]
fn an_earlier_column_that_equals_the_query_counts_more() {
    let places = [
        &["gcc", "a compiler", "c"],
        &["a compiler", "gcc", "c"],
        &["a compiler", "c", "gcc"],
    ];
    let scores = places.map(|columns| lexical_score("gcc", columns));
    assert!(scores[0] > scores[1] && scores[1] > scores[2], "{scores:?}");
    // A column without words has no place.
    assert_eq!(lexical_score("gcc", &["", "--", "gcc"]), ONE);
    let fourth = lexical_score("gcc", &["a compiler", "c", "a", "gcc"]);
    assert_eq!(fourth, scores[2]);
}

#[test]
fn some_words_count_less_than_their_share() {
    let all = lexical_score("kernel firefox", &["kernel and firefox"]);
    let one = lexical_score("kernel firefox", &["kernel and chrome"]);
    assert!(0 < one && one < all / 2, "{one} {all}");
}

#[test]
fn a_word_with_other_digits_is_no_typo() {
    for (query, column) in [
        ("libssl3", "libssl1"),
        ("python2", "python3"),
        ("libgtk", "libgtk3"),
    ] {
        assert_eq!(
            lexical_score(&format!("{query} x"), &[column]),
            0,
            "{query} {column}"
        );
    }
    assert!(lexical_score("pyhton3 x", &["python3"]) > 0);
}

#[test]
fn a_record_without_a_word_of_the_query_has_no_score() {
    for (query, column) in [
        ("gcc", "rustc"),
        ("gcc", ""),
        ("", "gcc"),
        ("++ -- ...", "++ -- ..."),
        ("\u{0}", "\u{0}"),
        ("\u{301}", "\u{301}"),
        ("2024", "2025"),
        ("git", "gti"),
    ] {
        assert_eq!(lexical_score(query, &[column]), 0, "{query:?} {column:?}");
    }
}

#[test]
fn each_typo_lowers_the_score() {
    for typed in [
        ["postgresql", "postgresqk", "pstgresqk"],
        ["postgresql", "psotgresql", "psotgrseql"],
        ["libreoffice", "libreofice", "libreofce"],
    ] {
        for columns in [
            &[typed[0]][..],
            &["a text about", "it", typed[0]],
            &[typed[0], typed[0]],
        ] {
            let scores = typed.map(|query| lexical_score(query, columns));
            assert!(
                scores[0] > scores[1] && scores[1] > scores[2] && scores[2] > 0,
                "{typed:?} {scores:?}"
            );
        }
    }
    // A third typo is another word, and so is a second in a short one.
    assert_eq!(lexical_score("pstgrsqk", &["postgresql"]), 0);
    assert_eq!(lexical_score("kernol", &["karnel"]), 0);
    assert!(lexical_score("libgkt", &["libgtk"]) > 0);
}

#[test]
fn an_exact_word_counts_more_than_any_other_match() {
    let exact = lexical_score("libgtk tools", &["some text with libgtk"]);
    for other in [
        "libgtks",
        "libgkt",
        "libgtks libgtks libgtks libgtks",
        "libgkt libtgk libgtks",
    ] {
        let score = lexical_score("libgtk tools", &[&format!("some text with {other}")]);
        assert!(0 < score && score < exact, "{other}: {score} {exact}");
    }
}

#[test]
fn words_next_to_each_other_count_more_than_apart() {
    let together = lexical_score("image editor", &["an image editor for all"]);
    let apart = lexical_score("image editor", &["an editor for an image"]);
    let other_columns = lexical_score("image editor", &["for an image", "editor"]);
    assert!(together > apart);
    assert!(apart >= other_columns);
    assert!(other_columns > lexical_score("image editor", &["for an image", "viewer"]));
}

#[test]
fn the_beginning_of_a_word_matches_while_it_is_typed() {
    let typed: Vec<u32> = ["fi", "fir", "fire", "firef", "firefo", "firefox"]
        .map(|query| lexical_score(query, &["firefox", "a browser"]))
        .into();
    assert!(typed.is_sorted() && typed[0] > 0, "{typed:?}");
    assert_eq!(typed[5], ONE);
    // Only the last word of a query is still typed.
    assert_eq!(lexical_score("fire dog", &["firefox"]), 0);
}

#[test]
fn words_are_found_however_they_are_split() {
    let equal = lexical_score("libgtk-3-0", &["libgtk-3-0"]);
    let swapped = lexical_score("libgt-k3-0", &["libgtk-3-0"]);
    let joined = lexical_score("libre office", &["libreoffice"]);
    assert_eq!(equal, ONE);
    assert!(swapped > ONE / 4 && joined > ONE / 4, "{swapped} {joined}");
}

#[test]
fn long_and_odd_texts_are_scored() {
    let long = "word ".repeat(1_600);
    assert_eq!(lexical_score(&long, &[&long]), ONE);
    assert!(lexical_score(&long, &["word"]) > 0);
    let distinct: String = (0..1_600).map(|at| format!("w{at}x ")).collect();
    assert!(
        LexicalQuery::parse(&distinct, false)
            .expect("words")
            .terms
            .len()
            <= 64
    );
    assert_eq!(lexical_score(&distinct, &[&distinct]), ONE);
    let letters = "x".repeat(10_000);
    assert_eq!(lexical_score(&letters, &[&letters]), ONE);
    let equal = "same ".repeat(200_000);
    let score = lexical_score("same", &[&equal]);
    assert!(0 < score && score < ONE);
    for query in ["a", "日本", "日", "\u{0}a", "e\u{301}", "#", "👩‍👩‍👧 family"] {
        let score = lexical_score(query, &[query]);
        assert_eq!(score, if query == "#" { 0 } else { ONE }, "{query:?}");
    }
}

#[test]
fn the_beginning_of_a_last_word_counts_less_than_the_word_and_more_the_nearer_it_is() {
    let typed = |text: &str, column: &str| score(text, true, &["a name", column]);
    let order = [
        "glov",
        "glove",
        "gloves",
        "gloveboxes",
        "glovemakers",
        "glow",
        "hammer",
    ];
    let scores = order.map(|column| typed("glov", &format!("leather {column} for winter")));
    assert!(scores.is_sorted_by(|a, b| a > b), "{scores:?}");
    assert_eq!(scores[order.len() - 1], 0);
    // Only the last word is unfinished.
    assert_eq!(
        typed("glov winter", "gloves for winter"),
        lexical_score("glov winter", &["a name", "gloves for winter"]),
    );
    assert!(typed("winter glov", "gloves") > lexical_score("winter glov", &["a name", "gloves"]));
}
