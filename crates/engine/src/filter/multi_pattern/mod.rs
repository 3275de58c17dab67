//! Multi-pattern search: many substrings are searched in one pass over a text.

mod grams;
mod rules;

#[cfg(test)]
mod tests;

pub(super) use rules::MultiPattern;
