//! Multi-pattern search: many substrings are searched in one pass over a text.

mod automaton;
mod grams;
mod matcher;
mod patterns;
mod rules;

#[cfg(test)]
mod tests;

pub(super) use patterns::Quantifier;
pub(super) use rules::MultiPattern;
