//! A filter as it was written.

use crate::record::{OwnedValue, Variant};

/// How the rules of a group combine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    /// All rules hold.
    And,
    /// At least one rule holds.
    Or,
}

impl Condition {
    /// The condition of that name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        match name {
            "AND" => Some(Self::And),
            "OR" => Some(Self::Or),
            _ => None,
        }
    }

    /// What a group without a condition means under `variant`; `None`: it must have one.
    pub(crate) fn default_of(variant: Variant) -> Option<Self> {
        match variant {
            Variant::A => None,
            Variant::B => Some(Self::And),
        }
    }
}

/// What a rule asks of a column.
///
/// The positive ones are false for a record that lacks the column, has null there or a value of
/// another type; each negative one is the exact complement of its positive one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Operator {
    /// Same type and same value.
    Equals,
    /// Not [`Operator::Equals`].
    NotEquals,
    /// A greater number.
    GreaterThan,
    /// A lesser number.
    LessThan,
    /// A greater or equal number.
    GreaterThanOrEquals,
    /// A lesser or equal number.
    LessThanOrEquals,
    /// A string with this substring.
    Contains,
    /// Not [`Operator::Contains`].
    NotContains,
    /// A string with this beginning.
    StartsWith,
    /// A string with this end.
    EndsWith,
    /// Missing, null or the empty string.
    IsEmpty,
    /// Not [`Operator::IsEmpty`].
    IsNotEmpty,
}

impl Operator {
    /// All operators with their names, in the order of the specification.
    pub(crate) const ALL: [(Self, &'static str); 12] = [
        (Self::Equals, "equals"),
        (Self::NotEquals, "not_equals"),
        (Self::GreaterThan, "greater_than"),
        (Self::LessThan, "less_than"),
        (Self::GreaterThanOrEquals, "greater_than_or_equals"),
        (Self::LessThanOrEquals, "less_than_or_equals"),
        (Self::Contains, "contains"),
        (Self::NotContains, "not_contains"),
        (Self::StartsWith, "starts_with"),
        (Self::EndsWith, "ends_with"),
        (Self::IsEmpty, "is_empty"),
        (Self::IsNotEmpty, "is_not_empty"),
    ];

    /// The operator of that name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .find(|(_, known)| *known == name)
            .map(|(operator, _)| *operator)
    }

    /// Its name in a request.
    pub(crate) fn name(self) -> &'static str {
        // `ALL` lists the operators in the order of the enum.
        Self::ALL[self as usize].1
    }

    /// Whether a rule with it has no value.
    pub(crate) fn is_unary(self) -> bool {
        matches!(self, Self::IsEmpty | Self::IsNotEmpty)
    }
}

/// One comparison of a column with a value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rule {
    /// The column's name.
    pub(crate) column: String,
    /// What is asked of it.
    pub(crate) operator: Operator,
    /// What it is compared with: of a type that the operator takes, `None` only where it takes none.
    pub(crate) value: Option<OwnedValue>,
}

/// Rules and groups under one condition; never empty once parsed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Group {
    /// How they combine.
    pub(crate) condition: Condition,
    /// In the order they were given.
    pub(crate) rules: Vec<Node>,
}

/// An element of a group.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    /// A nested group.
    Group(Group),
    /// A comparison.
    Rule(Rule),
}

/// A filter that parsed: a group of rules and groups.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Filter {
    /// The outermost group.
    pub(crate) root: Group,
}

impl Filter {
    /// What all of these let through; everything where there are none.
    pub(crate) fn and(filters: Vec<Self>) -> Self {
        let rules = filters
            .into_iter()
            .map(|filter| Node::Group(filter.root))
            .collect();
        Self {
            root: Group {
                condition: Condition::And,
                rules,
            },
        }
    }
}
