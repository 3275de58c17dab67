//! Checks of facets against the oracle.

use serde_json::{Value, json};

use super::oracle::Oracle;
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
        let expected = oracle.search(request, vector);
        let values = page["facets"][0]["values"].as_array().expect("values");
        for value in values {
            let having = expected
                .iter()
                .filter(|hit| hit["data"][column] == value["value"]);
            assert_eq!(value["count"], json!(having.count()), "{request} {value}");
        }
        let has_value = |hit: &&Value| !hit["data"][column].is_null();
        let is_counted = |hit: &Value| {
            values
                .iter()
                .any(|value| value["value"] == hit["data"][column])
        };
        let missed = expected
            .iter()
            .filter(has_value)
            .find(|hit| !is_counted(hit));
        assert_eq!(missed, None, "{request}");
    }
}
