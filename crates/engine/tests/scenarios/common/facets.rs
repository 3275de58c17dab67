//! Checks of facets against the oracle.

use serde_json::{Value, json};

use super::oracle::{Oracle, elements};
use super::server::Server;

impl Server {
    /// Checks the counts of the values of a column among all matches of a search.
    pub(crate) fn check_facet(
        &self,
        oracle: &Oracle,
        request: &Value,
        vector: &[f32],
        column: &str,
    ) {
        let mut with_facet = request.clone();
        with_facet["facets"] = json!([{ "column": column }]);
        let page = self.search("db", &with_facet, vector);
        let ranking = oracle.ranking(request, vector);
        let matches = ranking.matches.iter();
        let expected: Vec<&Value> = matches
            .filter_map(|(_, _, known)| known.data.get(column))
            .filter(|value| !value.is_null())
            .collect();
        let has = |known: &Value, value: &Value| elements(known).contains(value);
        let values = page["facets"][0]["values"].as_array().expect("values");
        for value in values {
            let having = expected.iter().filter(|known| has(known, &value["value"]));
            assert_eq!(value["count"], json!(having.count()), "{request} {value}");
        }
        let is_counted = |known: &Value| values.iter().any(|value| &value["value"] == known);
        let mut counted = expected.into_iter().flat_map(elements);
        let missed = counted.find(|known| !is_counted(known));
        assert_eq!(missed, None, "{request}");
    }
}
