//! The places of a query's words in a text.

use std::ops::Range;

use crate::lexical::places::each_word_place;
use crate::lexical::query::LexicalQuery;
use crate::lexical::score::counted;
use crate::lexical::term::FULL;

impl LexicalQuery {
    /// The places of a column that match, in UTF-16 code units, in their order: each word with a grade above 0, and where
    /// the column matches as a whole, the words that the text of the query reaches. `part` thousandths of the matches count.
    pub(crate) fn highlights(&self, column: &str, part: Option<u32>) -> Vec<Range<usize>> {
        let (mut joined, mut exact) = (String::new(), 0_u64);
        // The words whose letters `joined` has, each with the place of its first letter there, and all words that match.
        let (mut first, mut matches) = (Vec::new(), Vec::new());
        each_word_place(column, |word, place| {
            if joined.len() <= self.longest_joined() {
                first.push((joined.len(), place.clone()));
                joined.push_str(word);
            }
            let mut is_match = false;
            for (at, term) in self.terms.iter().enumerate() {
                let grade = term.grade(word);
                is_match |= counted(grade, part) > 0;
                exact |= u64::from(grade == FULL) << at;
            }
            if is_match {
                matches.push(place);
            }
        });
        let mut places = self.whole(first, &joined, exact, (column, part));
        let end = places.last().map_or(0, |last| last.end);
        places.extend(matches.into_iter().filter(|place| place.start >= end));
        places
    }

    /// The places of the words that match because the column does as a whole.
    fn whole(
        &self,
        words: Vec<(usize, Range<usize>)>,
        joined: &str,
        exact: u64,
        (column, part): (&str, Option<u32>),
    ) -> Vec<Range<usize>> {
        let has_all = self.name.is_some() || exact.count_ones() as usize == self.terms.len();
        let grade = counted(self.grade_of_column(joined, column), part);
        if joined.is_empty() || !has_all || grade == 0 {
            return Vec::new();
        }
        let reached = match joined.starts_with(&self.joined) {
            true => self.joined.len(),
            false => joined.len(),
        };
        let reached = words.into_iter().take_while(|&(start, _)| start < reached);
        reached.map(|(_, place)| place).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::lexical_scorer;

    fn highlights(query: &str, column: &str) -> String {
        let query = LexicalQuery::parse(query, false).expect("a query with words");
        let mut units: Vec<u16> = column.encode_utf16().collect();
        for Range { start, end } in query.highlights(column, None).into_iter().rev() {
            units.insert(end, u16::from(b']'));
            units.insert(start, u16::from(b'['));
        }
        String::from_utf16(&units).expect("whole letters")
    }

    #[test]
    fn words_that_match_are_marked() {
        for (query, column, expected) in [
            ("gcc", "GCC, gccs and gccgo", "[GCC], [gccs] and [gccgo]"),
            ("gcc doc", "gcc documents", "[gcc] [documents]"),
            (
                "firefxo",
                "🦊 Firefox, a browser",
                "🦊 [Firefox], a browser",
            ),
            ("the cat", "the dog", "[the] dog"),
            ("creme", "Cre\u{300}me 𝄞 crème", "[Cre\u{300}me] 𝄞 [crème]"),
            ("istanbul", "İSTANBUL", "[İSTANBUL]"),
            ("find", "ﬁnd ﬁne", "[ﬁnd] ﬁne"),
            ("path", "os.path_name", "os.[path]_name"),
            ("c++", "c, c++ and c#", "c, [c++] and c#"),
            ("4711 x", "4711.0 4711 47110", "4711.0 [4711] 47110"),
            ("dog", "cat", "cat"),
            ("dog", "", ""),
        ] {
            assert_eq!(highlights(query, column), expected, "{query:?}");
        }
    }

    #[test]
    fn a_column_that_matches_as_a_whole_is_marked_as_far_as_the_text_reaches() {
        for (query, column, expected) in [
            ("firefox", "Fire Fox!", "[Fire] [Fox]!"),
            ("fire fo", "firefox browser", "[firefox] browser"),
            ("red car", "red cat", "[red] [cat]"),
            ("libgtk30", "libgtk-3-0", "[libgtk]-[3]-[0]"),
            ("red car", "a red cat", "a [red] cat"),
        ] {
            assert_eq!(highlights(query, column), expected, "{query:?}");
        }
        let long = "w ".repeat(70) + "end";
        assert_eq!(highlights(&long, &long), "[w] ".repeat(70) + "[end]");
        assert_eq!(highlights(&long, "w end"), "[w] end");
    }

    #[test]
    fn columns_have_marks_exactly_if_they_score() {
        let words = [
            "gcc", "gccs", "gccgo", "fire", "fox", "firefox", "the", "ﬁre", "c++", "é", "e",
        ];
        let mut seed = 9_u32;
        let mut next = |below: usize| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 16) as usize % below
        };
        let mut marked = 0;
        for _ in 0..20_000 {
            let mut text = |max| {
                let words = (0..1 + next(max)).map(|_| words[next(words.len())]);
                words.collect::<Vec<_>>().join(" ")
            };
            let (query, column) = (text(3), text(4));
            let is_marked = highlights(&query, &column) != column;
            assert_eq!(
                lexical_scorer(&query, false)(&[(&*column, None)]) > 0,
                is_marked,
                "{query:?} {column:?}"
            );
            marked += u32::from(is_marked);
        }
        assert!((2_000..18_000).contains(&marked), "{marked}");
    }
}
