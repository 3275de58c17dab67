//! A search request as the engine takes it.

use crate::error::Error;
use crate::filter::RequestReader;
use crate::limits::Limits;
use crate::record::{Position, RecordId, Variant, Weight, cursor, to_unit_q30};
use crate::search::boosts::Boost;
use crate::search::common::Common;
use crate::search::passages::PassagesRequest;
use crate::settings::Settings;

/// A semantic search, parsed and checked.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    pub(crate) common: Common,
    /// The lowest score of a match, 0..=1.
    pub(crate) threshold: f64,
    /// The position at which the page before ended.
    pub(crate) cursor: Option<Position>,
    /// Records that are no results, such as the examples that the query was made from.
    pub(crate) excluded: Vec<RecordId>,
    /// The exact words that scores take into account, if the request asks for it.
    pub(crate) lexical: Option<LexicalRequest>,
    /// The parts of scores that depend on the data and the times of records.
    pub(crate) boosts: Vec<Boost>,
    /// The weight of the cosine, which words and boosts leave.
    pub(crate) cosine_weight: Weight,
    /// What results show of their passages.
    pub(crate) passages: PassagesRequest,
    /// Whether results show which of their words match.
    pub(crate) highlights: bool,
    /// Fingerprint of the model that made the query's vector; `None` for a vector of the caller.
    embedded_by: Option<String>,
}

/// The exact words of a search.
#[derive(Clone, Debug)]
pub(crate) struct LexicalRequest {
    pub(crate) weight: Weight,
    pub(crate) text: String,
    /// Whether the last word is the beginning of one.
    pub(crate) is_unfinished: bool,
}

impl Search {
    /// Reads a search from JSON: the members of [`Common`], `threshold`, `cursor`, `excluded`,
    /// `lexical`, `boosts`, `passages`, `neighbours`, `highlights`, `embedded_by`.
    ///
    /// # Errors
    /// [`Error::Invalid`] with a pointer for each member that is invalid.
    pub(crate) fn parse(json: &str, limits: &Limits) -> Result<Self, Error> {
        let request = RequestReader::new(json, limits)?;
        let threshold = request.number("threshold")?.unwrap_or(0.2);
        if !(0.0..=1.0).contains(&threshold) {
            return Err(Error::request(
                "/search/threshold",
                "must be between 0 and 1",
            ));
        }
        let common = Common::parse(&request, limits)?;
        let passages = PassagesRequest::parse(&request, common.explain.is_some())?;
        let variant = common.variant;
        let cursor = match request.text("cursor")? {
            None => None,
            Some(text) => {
                Some(cursor::parse(variant, text).ok_or_else(|| invalid_cursor(variant))?)
            }
        };
        let mut cosine_weight = Weight::ALL;
        let lexical = LexicalRequest::parse(&request, &mut cosine_weight)?;
        Ok(Self {
            common,
            threshold,
            cursor,
            excluded: request
                .list("excluded", "a list of integer ids", |id| {
                    id.as_u64().map(RecordId)
                })?
                .unwrap_or_default(),
            lexical,
            boosts: Boost::parse(&request, variant, &mut cosine_weight)?,
            cosine_weight,
            passages,
            highlights: request.flag("highlights")?,
            embedded_by: request.text("embedded_by")?.map(str::to_owned),
        })
    }

    /// Checks that a database with these settings can be searched so, and returns the unit vector of the query.
    ///
    /// # Errors
    /// [`Error::Stale`] when another model made the vector, or for other default values; [`Error::Dimensions`],
    /// [`Error::Vector`]; [`Error::Invalid`] when the database lacks what the search asks for.
    pub(crate) fn check<T: Copy + Into<f64>>(
        &self,
        settings: &Settings,
        vector: &[T],
    ) -> Result<Vec<i32>, Error> {
        self.common.check(settings)?;
        if self.embedded_by.is_some() && self.embedded_by != settings.fingerprint {
            return Err(Error::Stale);
        }
        let (expected, got) = (settings.dimensions, vector.len());
        if got != expected {
            return Err(Error::Dimensions { expected, got });
        }
        self.check_words(settings.lexical.is_on())?;
        Ok(to_unit_q30(vector)?)
    }

    /// Checks that the words are indexed if the search takes them into account.
    ///
    /// # Errors
    /// [`Error::Invalid`].
    pub(crate) fn check_words(&self, are_indexed: bool) -> Result<(), Error> {
        if self.lexical.is_none() || are_indexed {
            return Ok(());
        }
        let detail = "the database does not know its words: switch that on with \"lexical\": true in its settings, or search without lexical";
        Err(Error::request("/search/lexical", detail))
    }
}

impl LexicalRequest {
    /// Reads the member `lexical`, an object with `weight`, `text` and `prefix`. A weight of 0 is the same as none. The weight is taken
    /// from `left`.
    ///
    /// # Errors
    /// [`Error::Invalid`].
    fn parse(request: &RequestReader<'_>, left: &mut Weight) -> Result<Option<Self>, Error> {
        let invalid = |detail: &str| Error::request("/search/lexical", detail);
        let Some(lexical) = request.members.get("lexical") else {
            return Ok(None);
        };
        let weight = lexical["weight"].as_f64();
        let weight = weight.filter(|weight| (0.0..=1.0).contains(weight));
        let weight = weight.ok_or_else(|| invalid("must be between 0 and 1"))?;
        let weight = left.take(weight);
        let text = lexical["text"].as_str();
        let text = text.ok_or_else(|| invalid("needs the text of the search"))?;
        Ok(weight.counts().then(|| Self {
            weight,
            text: text.to_owned(),
            is_unfinished: lexical["prefix"].as_bool().unwrap_or(false),
        }))
    }
}

fn invalid_cursor(variant: Variant) -> Error {
    let shape = match variant {
        Variant::A => "a relevance score and a UUID joined by |",
        Variant::B | Variant::Both => "a relevance score and an integer id joined by _",
    };
    Error::invalid(
        "invalid_cursor",
        "/pagination/cursor",
        format!("must be a next_cursor of this service: {shape}"),
    )
}
