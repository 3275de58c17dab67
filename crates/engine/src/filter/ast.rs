//! Filters as requests contain them.

use crate::columns::Comparison;
use crate::json::Instant;
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
    /// Returns the condition with this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        match name {
            "AND" => Some(Self::And),
            "OR" => Some(Self::Or),
            _ => None,
        }
    }

    /// The condition of a group that gives none; `None` if `variant` requires one.
    pub(crate) fn default_of(variant: Variant) -> Option<Self> {
        match variant {
            Variant::A => None,
            Variant::B | Variant::Both => Some(Self::And),
        }
    }
}

/// How a rule compares the value of a column.
///
/// A positive operator is false for a record that lacks the column, has null or has a value of another type. Each negative
/// operator is the exact complement of its positive one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Operator {
    /// Same type and same value.
    Equals,
    /// Not [`Operator::Equals`].
    NotEquals,
    /// A greater number.
    GreaterThan,
    /// A smaller number.
    LessThan,
    /// A greater or equal number.
    GreaterThanOrEquals,
    /// A smaller or equal number.
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
    /// [`Operator::Equals`] one of several values.
    In,
    /// Not [`Operator::In`].
    NotIn,
    /// A string that is an earlier time.
    Before,
    /// A string that is a later time.
    After,
    /// A string that is an earlier time or the same.
    OnOrBefore,
    /// A string that is a later time or the same.
    OnOrAfter,
}

impl Operator {
    /// All operators with their names: first those of the specification, in its order.
    pub(crate) const ALL: [(Self, &'static str); 18] = [
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
        (Self::In, "in"),
        (Self::NotIn, "not_in"),
        (Self::Before, "before"),
        (Self::After, "after"),
        (Self::OnOrBefore, "on_or_before"),
        (Self::OnOrAfter, "on_or_after"),
    ];

    /// Returns the operator with this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .find(|(_, known)| *known == name)
            .map(|(operator, _)| *operator)
    }

    /// The name of the operator in requests.
    pub(crate) fn name(self) -> &'static str {
        // `ALL` lists the operators in the order of the enum.
        Self::ALL[self as usize].1
    }

    /// Whether a rule with it has no value.
    pub(crate) fn is_unary(self) -> bool {
        matches!(self, Self::IsEmpty | Self::IsNotEmpty)
    }

    /// Whether it is the exact complement of a positive operator.
    pub(crate) fn is_negative(self) -> bool {
        matches!(
            self,
            Self::NotEquals | Self::NotContains | Self::IsNotEmpty | Self::NotIn
        )
    }

    /// How it compares numbers or times; `None` if it does not compare by order.
    pub(crate) fn comparison(self) -> Option<Comparison> {
        match self {
            Self::GreaterThan | Self::After => Some(Comparison::Greater),
            Self::GreaterThanOrEquals | Self::OnOrAfter => Some(Comparison::GreaterOrEqual),
            Self::LessThan | Self::Before => Some(Comparison::Less),
            Self::LessThanOrEquals | Self::OnOrBefore => Some(Comparison::LessOrEqual),
            _ => None,
        }
    }
}

/// One comparison of a column with a value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rule {
    /// The column's name.
    pub(crate) column: String,
    /// How the value of the column is compared.
    pub(crate) operator: Operator,
    /// What it is compared with, of a type that the operator takes.
    pub(crate) operand: Operand,
}

/// What a rule compares the value of a column with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Operand {
    /// Nothing: the operator is unary.
    None,
    /// A value that is not null.
    Value(OwnedValue),
    /// At least one value; none of them is null.
    List(Vec<OwnedValue>),
    /// A time.
    Time(Instant),
}

impl Rule {
    /// Bytes of the name and the value, or of the list of values.
    fn bytes(&self) -> usize {
        let text = |value: &OwnedValue| match value {
            OwnedValue::Text(text) => text.len(),
            _ => 0,
        };
        let operand = match &self.operand {
            Operand::Value(value) => text(value),
            Operand::List(values) => {
                size_of_val(&**values) + values.iter().map(text).sum::<usize>()
            }
            Operand::None | Operand::Time(_) => 0,
        };
        self.column.len() + operand
    }
}

/// Rules and groups under one condition; never empty once parsed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Group {
    /// How they combine.
    pub(crate) condition: Condition,
    /// In the order they were given.
    pub(crate) rules: Vec<Node>,
}

impl Group {
    /// Subtracts the rules and groups of the group and their bytes; `None` if that is too much.
    fn take_from(&self, nodes: &mut usize, bytes: &mut usize) -> Option<()> {
        for node in &self.rules {
            *nodes = nodes.checked_sub(1)?;
            match node {
                Node::Group(group) => group.take_from(nodes, bytes)?,
                Node::Rule(rule) => *bytes = bytes.checked_sub(rule.bytes())?,
            }
        }
        Some(())
    }
}

/// An element of a group.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    /// A nested group.
    Group(Group),
    /// A comparison.
    Rule(Rule),
}

/// A parsed filter: a group of rules and groups.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Filter {
    /// The outermost group.
    pub(crate) root: Group,
}

impl Filter {
    /// A filter that a record passes if it passes all of `filters`.
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

    /// Whether the filter has at most this many rules and groups, and at most this many bytes of names and values.
    pub(crate) fn fits(&self, mut nodes: usize, mut bytes: usize) -> bool {
        self.root.take_from(&mut nodes, &mut bytes).is_some()
    }
}
