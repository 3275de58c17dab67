//! Filters from JSON.

use std::borrow::Cow;
use std::fmt;

use crate::filter::ast::{Condition, Filter, Group, Node, Operand, Operator, Rule};
use crate::filter::suggestion::did_you_mean;
use crate::json;
use crate::json::{Json, check_column, parse_time};
use crate::limits::FilterLimits;
use crate::record::{OwnedValue, ValidationCode, ValidationError, ValidationErrors};

/// The maximal number of values in one list.
const MAX_LIST_VALUES: usize = 1_000;

/// The maximal number of values in all lists of a filter.
const MAX_LISTED_VALUES: usize = 10_000;

/// What a time must be, for people.
pub(crate) const TIME_FORM: &str = "must be an ISO 8601 date or time, 2026-01-31T12:00:00Z";

/// The maximal nesting depth of the JSON of a filter: a group takes two levels, its object and its array; a rule's value may
/// be one deeper.
pub(super) fn max_json_depth(limits: &FilterLimits) -> usize {
    limits.depth * 2 + 2
}

impl Filter {
    /// Parses a filter from JSON text; see [`Filter::parse`].
    ///
    /// # Errors
    /// As [`Filter::parse`]; if the text is not valid JSON, only that problem.
    pub(crate) fn from_json(
        bytes: &[u8],
        limits: &FilterLimits,
        default_condition: Option<Condition>,
    ) -> Result<Self, Vec<ValidationError>> {
        let depth = max_json_depth(limits);
        let tree = json::parse(bytes, depth).map_err(|problem| vec![problem])?;
        Self::parse(&tree, limits, default_condition)
    }

    /// Parses a filter. A group without `condition` gets `default_condition`, or is a problem if that is `None`.
    ///
    /// # Errors
    /// Every problem found, with pointers relative to the filter such as `/rules/1/operator`.
    pub(crate) fn parse(
        json: &Json<'_>,
        limits: &FilterLimits,
        default_condition: Option<Condition>,
    ) -> Result<Self, Vec<ValidationError>> {
        let mut parser = Parser {
            limits,
            default_condition,
            rules: 0,
            listed: 0,
            problems: ValidationErrors::default(),
        };
        let root = parser.group(json, Place { within: None }, 1);
        let problems = parser.problems;
        // If there is no group, there is a problem that says why.
        let root = root.unwrap_or(Group {
            condition: Condition::And,
            rules: Vec::new(),
        });
        problems.or(Self { root })
    }
}

/// The JSON pointer of a group or rule. It is written only for a problem, because most filters have none.
#[derive(Clone, Copy)]
struct Place<'a> {
    /// The place of the group that holds it, and its index there; `None` for the outermost group.
    within: Option<(&'a Place<'a>, usize)>,
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.within {
            Some((group, at)) => write!(out, "{group}/rules/{at}"),
            None => Ok(()),
        }
    }
}

/// The members of an object.
type Members<'a> = [(Cow<'a, str>, Json<'a>)];

/// The types of a value that an operator takes.
#[derive(Clone, Copy)]
enum Types {
    Any,
    Number,
    Text,
}

struct Parser<'a> {
    limits: &'a FilterLimits,
    default_condition: Option<Condition>,
    rules: usize,
    /// Values in the lists of all rules so far.
    listed: usize,
    problems: ValidationErrors,
}

impl Parser<'_> {
    /// Reports a problem of a member, `/rules`, or of the whole group or rule, with an empty `member`.
    fn report(
        &mut self,
        place: Place<'_>,
        member: &str,
        code: ValidationCode,
        detail: impl Into<String>,
    ) {
        self.problems.push(ValidationError {
            pointer: format!("{place}{member}"),
            ..ValidationError::new(code, detail)
        });
    }

    fn wrong_type(&mut self, place: Place<'_>, member: &str, expected: &str, found: &Json<'_>) {
        let detail = format!("expected {expected}, found {}", found.type_name());
        self.report(place, member, ValidationCode::WrongType, detail);
    }

    /// A member that is a string.
    fn text<'m>(
        &mut self,
        members: &'m Members<'_>,
        place: Place<'_>,
        name: &str,
    ) -> Option<&'m str> {
        match member(members, name) {
            Some(Json::Text(text)) => return Some(text),
            Some(other) => self.wrong_type(place, &format!("/{name}"), "a string", other),
            None => self.missing(place, name),
        }
        None
    }

    /// Reports members that are not among `known`.
    fn check_members(&mut self, members: &Members<'_>, place: Place<'_>, known: &[&str]) {
        for (name, _) in members
            .iter()
            .filter(|(name, _)| !known.contains(&name.as_ref()))
        {
            let detail = format!("unknown member {name:?}{}", did_you_mean(name, known));
            let problem = ValidationError::new(ValidationCode::UnknownMember, detail).within(name);
            self.report(place, &problem.pointer, problem.code, problem.detail);
        }
    }

    fn missing(&mut self, place: Place<'_>, member: &str) {
        let detail = format!("the member {member:?} is required");
        self.report(place, "", ValidationCode::MissingMember, detail);
    }

    fn group(&mut self, json: &Json<'_>, place: Place<'_>, depth: usize) -> Option<Group> {
        let Json::Object(members) = json else {
            self.wrong_type(place, "", "an object", json);
            return None;
        };
        if depth > self.limits.depth {
            let detail = format!("groups are nested deeper than {} levels", self.limits.depth);
            self.report(place, "", ValidationCode::TooDeep, detail);
            return None;
        }
        self.check_members(members, place, &["condition", "rules"]);
        let condition = match (member(members, "condition"), self.default_condition) {
            (None, Some(default)) => Some(default),
            _ => self.condition(members, place),
        };
        let rules = match member(members, "rules") {
            Some(Json::Array(rules)) if rules.is_empty() => {
                let detail = "a group has at least one rule";
                self.report(place, "/rules", ValidationCode::EmptyRules, detail);
                return None;
            }
            Some(Json::Array(rules)) => rules,
            Some(other) => {
                self.wrong_type(place, "/rules", "an array", other);
                return None;
            }
            None => {
                self.missing(place, "rules");
                return None;
            }
        };
        let mut nodes = Vec::with_capacity(rules.len());
        for (at, rule) in rules.iter().enumerate() {
            // A filter with too many rules or values is not parsed further.
            if self.rules > self.limits.rules || self.listed > MAX_LISTED_VALUES {
                return None;
            }
            let place = Place {
                within: Some((&place, at)),
            };
            nodes.extend(self.node(rule, place, depth));
        }
        Some(Group {
            condition: condition?,
            rules: nodes,
        })
    }

    fn condition(&mut self, members: &Members<'_>, place: Place<'_>) -> Option<Condition> {
        let condition = Condition::from_name(self.text(members, place, "condition")?);
        if condition.is_none() {
            let detail = "a condition is \"AND\" or \"OR\"";
            self.report(
                place,
                "/condition",
                ValidationCode::UnknownCondition,
                detail,
            );
        }
        condition
    }

    fn node(&mut self, json: &Json<'_>, place: Place<'_>, depth: usize) -> Option<Node> {
        let is_group = matches!(json, Json::Object(members)
            if member(members, "rules").is_some() || member(members, "condition").is_some());
        if is_group {
            self.group(json, place, depth + 1).map(Node::Group)
        } else {
            self.rule(json, place).map(Node::Rule)
        }
    }

    fn rule(&mut self, json: &Json<'_>, place: Place<'_>) -> Option<Rule> {
        let Json::Object(members) = json else {
            self.wrong_type(place, "", "an object", json);
            return None;
        };
        self.rules += 1;
        if self.rules > self.limits.rules {
            let detail = format!("a filter has at most {} rules", self.limits.rules);
            self.report(place, "", ValidationCode::TooManyRules, detail);
            return None;
        }
        self.check_members(members, place, &["column", "operator", "value"]);
        let column = self.column(members, place);
        let operator = self.operator(members, place)?;
        let value = member(members, "value");
        let operand = match value {
            None if operator.is_unary() => Some(Operand::None),
            Some(_) if operator.is_unary() => {
                let detail = format!("{} takes no value", operator.name());
                self.report(place, "/value", ValidationCode::UnexpectedValue, detail);
                None
            }
            None => {
                self.missing(place, "value");
                None
            }
            Some(value) => self.operand(operator, value, place),
        };
        Some(Rule {
            column: column?,
            operator,
            operand: operand?,
        })
    }

    fn column(&mut self, members: &Members<'_>, place: Place<'_>) -> Option<String> {
        let name = self.text(members, place, "column")?;
        if let Err(problem) = check_column(name) {
            self.report(place, "/column", problem.code, problem.detail);
            return None;
        }
        Some(name.to_owned())
    }

    fn operator(&mut self, members: &Members<'_>, place: Place<'_>) -> Option<Operator> {
        let name = self.text(members, place, "operator")?;
        let operator = Operator::from_name(name);
        if operator.is_none() {
            let guess = did_you_mean(name, &Operator::ALL.map(|(_, name)| name));
            // A name may be as long as the request, so the message contains its beginning only.
            let shown: String = name.chars().take(40).collect();
            let detail = format!("unknown operator {shown:?}{guess}");
            self.report(place, "/operator", ValidationCode::UnknownOperator, detail);
        }
        operator
    }

    /// The operand of an operator that has one.
    fn operand(
        &mut self,
        operator: Operator,
        json: &Json<'_>,
        place: Place<'_>,
    ) -> Option<Operand> {
        use Operator as O;
        let mut value = |types: Types| self.value(json, types, place, "/value");
        match operator {
            O::Equals | O::NotEquals => value(Types::Any).map(Operand::Value),
            O::In | O::NotIn => self.list(json, place).map(Operand::List),
            O::Before | O::After | O::OnOrBefore | O::OnOrAfter => {
                let OwnedValue::Text(text) = value(Types::Text)? else {
                    return None;
                };
                let time = parse_time(&text);
                if time.is_err() {
                    self.report(place, "/value", ValidationCode::InvalidTime, TIME_FORM);
                }
                time.ok().map(Operand::Time)
            }
            _ if operator.comparison().is_some() => value(Types::Number).map(Operand::Value),
            _ => value(Types::Text).map(Operand::Value),
        }
    }

    fn list(&mut self, json: &Json<'_>, place: Place<'_>) -> Option<Vec<OwnedValue>> {
        let Json::Array(items) = json else {
            self.wrong_type(place, "/value", "an array", json);
            return None;
        };
        if !(1..=MAX_LIST_VALUES).contains(&items.len()) {
            let detail = format!("a list has 1 to {MAX_LIST_VALUES} values");
            self.report(place, "/value", ValidationCode::InvalidValue, detail);
            return None;
        }
        self.listed += items.len();
        if self.listed > MAX_LISTED_VALUES {
            let detail = format!("the lists of a filter have at most {MAX_LISTED_VALUES} values");
            self.report(place, "/value", ValidationCode::TooManyValues, detail);
            return None;
        }
        let mut values = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            values.extend(self.value(item, Types::Any, place, format_args!("/value/{at}")));
        }
        (values.len() == items.len()).then_some(values)
    }

    /// A value of one of the types. `member` is written only for a problem.
    fn value(
        &mut self,
        json: &Json<'_>,
        types: Types,
        place: Place<'_>,
        member: impl fmt::Display,
    ) -> Option<OwnedValue> {
        match (json, types) {
            (Json::Text(text), Types::Any | Types::Text) => {
                if text.len() > self.limits.value_bytes {
                    let detail = format!("a value has at most {} bytes", self.limits.value_bytes);
                    let member = member.to_string();
                    self.report(place, &member, ValidationCode::ValueTooLong, detail);
                    return None;
                }
                return Some(OwnedValue::Text(text.as_ref().into()));
            }
            (Json::Number(number), Types::Any | Types::Number) => {
                return Some(OwnedValue::Number(*number));
            }
            (Json::Boolean(boolean), Types::Any) => return Some(OwnedValue::Boolean(*boolean)),
            _ => {}
        }
        let expected = match types {
            Types::Any => "a string, number or boolean",
            Types::Number => "a number",
            Types::Text => "a string",
        };
        self.wrong_type(place, &member.to_string(), expected, json);
        None
    }
}

fn member<'m, 'a>(members: &'m Members<'a>, name: &str) -> Option<&'m Json<'a>> {
    let mut members = members.iter();
    members.find_map(|(known, json)| (known == name).then_some(json))
}
