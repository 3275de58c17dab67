import { isGroup, isSameRule, isSent, newGroup } from './filter.js';

// What is chosen in the facet of a column: one or more of its values or intervals, any of which a match has. In the filter,
// that is one of the conditions of the whole: the rules of the one that is chosen, or a group with OR of all of them.

/**
 * Finds in a filter what is chosen in a facet.
 *
 * @returns {{ choices: object[][], nodes: object[] }} the rules of each value or interval, and the nodes of the filter that
 * say so
 */
export function choiceOf(root, facet) {
  const nothing = { choices: [], nodes: [] };
  if (root.condition !== 'AND') return nothing;
  const ofColumn = root.rules.filter(
    (node) => !isGroup(node) && node.column === facet.column && isSent(node),
  );
  const alone = operatorsOf(facet).map((operator) => ofColumn.filter((rule) => rule.operator === operator));
  const several = root.rules.find((node) => isGroup(node) && isChoice(node, facet));
  if (several !== undefined) return { choices: several.rules.map(rulesOf), nodes: [several] };
  if (alone.some((rules) => rules.length !== 1)) return nothing;
  return { choices: [alone.flat()], nodes: alone.flat() };
}

const operatorsOf = ({ type }) =>
  type === 'histogram' ? ['greater_than_or_equals', 'less_than'] : ['equals'];

const rulesOf = (node) => (isGroup(node) ? node.rules : [node]);

/** Whether a group says that one of several values or intervals of a facet is chosen. */
function isChoice({ condition, rules }, facet) {
  const operators = operatorsOf(facet).join();
  return (
    condition === 'OR' &&
    rules.every(
      (node) =>
        (!isGroup(node) || node.condition === 'AND') &&
        rulesOf(node).every((rule) => !isGroup(rule) && rule.column === facet.column && isSent(rule)) &&
        rulesOf(node)
          .map(({ operator }) => operator)
          .join() === operators,
    )
  );
}

const isSame = (one, other) =>
  one.length === other.length && one.every((rule, at) => isSameRule(rule, other[at]));

/** Whether the value or interval with these rules is chosen. */
export const isChosen = (choices, rules) => choices.some((one) => isSame(one, rules));

export function withoutChoice(root, facet) {
  const { nodes } = choiceOf(root, facet);
  return nodes.length === 0 ? root : { ...root, rules: root.rules.filter((node) => !nodes.includes(node)) };
}

/** Chooses the value or interval with these rules in addition to the others of its facet, or no longer. */
export function toggleChoice(root, facet, rules) {
  const { choices, nodes } = choiceOf(root, facet);
  const chosen = isChosen(choices, rules)
    ? choices.filter((one) => !isSame(one, rules))
    : [...choices, rules];
  const added = chosen.length > 1 ? [newGroup(chosen.map(nodeOf), 'OR')] : chosen.flat();
  if (root.condition !== 'AND') return newGroup(isSent(root) ? [root, ...added] : added);
  const at = root.rules.indexOf(nodes[0]);
  const others = root.rules.filter((node) => !nodes.includes(node));
  return { ...root, rules: at < 0 ? [...others, ...added] : others.toSpliced(at, 0, ...added) };
}

const nodeOf = (rules) => (rules.length === 1 ? rules[0] : newGroup(rules));
