/** How each operator is shown, and what it compares with. */
export const OPERATORS = {
  equals: { text: 'equals', operand: 'any' },
  not_equals: { text: 'does not equal', operand: 'any' },
  greater_than: { text: 'is greater than', operand: 'number' },
  greater_than_or_equals: { text: 'is at least', operand: 'number' },
  less_than: { text: 'is less than', operand: 'number' },
  less_than_or_equals: { text: 'is at most', operand: 'number' },
  contains: { text: 'contains', operand: 'text' },
  not_contains: { text: 'does not contain', operand: 'text' },
  starts_with: { text: 'starts with', operand: 'text' },
  ends_with: { text: 'ends with', operand: 'text' },
  is_empty: { text: 'is empty', operand: 'none' },
  is_not_empty: { text: 'is not empty', operand: 'none' },
};

let keys = 0;
const nextKey = () => `n${++keys}`;

export const newGroup = (rules = [], condition = 'AND') => ({ key: nextKey(), condition, rules });

/** A rule of the builder. It is no part of the request while `draft`: nobody has entered a value yet. */
export const newRule = (column) => ({
  key: nextKey(),
  column,
  operator: 'equals',
  value: '',
  type: 'text',
  /** Whether the user chose the type. Otherwise it follows from the value and the types of the column. */
  isTypeChosen: false,
  draft: true,
});

export const ruleOf = (column, operator, value) => ({
  key: nextKey(),
  column,
  operator,
  value: value === undefined ? '' : String(value),
  type: typeOf(value),
  isTypeChosen: true,
  draft: false,
});

const typeOf = (value) => (typeof value === 'string' || value === undefined ? 'text' : typeof value);
export const isGroup = (node) => node.rules !== undefined;

/** The operand of a rule, as JSON has it. A text that is no value of the type stays text: the service says what is wrong. */
function operandOf({ operator, value, type }) {
  const { operand = 'any' } = OPERATORS[operator] ?? {};
  const wanted = operand === 'any' ? type : operand;
  if (wanted === 'number' && isNumber(value)) return Number(value);
  if (wanted === 'boolean' && isBoolean(value)) return value === 'true';
  return value;
}

const isBoolean = (text) => text === 'true' || text === 'false';
const isNumber = (text) =>
  /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(text) && Number.isFinite(Number(text));

/** The types of a rule's operand that can be chosen: those of the column, where the operator takes any. */
export const typesOfOperand = (operator, types) =>
  OPERATORS[operator]?.operand === 'any' && types.length > 1 ? types.map(operandType) : [];

/** The type of what is entered for a rule: the chosen one, or the first type of the column that has such a value. */
export function typeOfInput({ type, isTypeChosen }, value, types) {
  const isType = { number: isNumber, boolean: isBoolean, text: () => true };
  if (isTypeChosen && types.length > 1 && isType[type](value)) return type;
  return ['boolean', 'number'].find((name) => types.includes(name) && isType[name](value)) ?? 'text';
}

const operandType = (type) => (type === 'string' ? 'text' : type);

export const needsValue = (operator) => OPERATORS[operator]?.operand !== 'none';

/**
 * Makes the filter of a request. Drafts and empty groups are left out.
 *
 * @returns {{ filter?: object, pointers: Map<string, string> }} the pointers of the nodes in the request, to their keys
 */
export function requestFilter(root) {
  const pointers = new Map();
  const visit = (node, pointer) => {
    pointers.set(pointer, node.key);
    if (!isGroup(node)) return ruleJson(node);
    const rules = node.rules.filter(isSent).map((rule, at) => visit(rule, `${pointer}/rules/${at}`));
    return { condition: node.condition, rules };
  };
  return isSent(root) ? { filter: visit(root, '/filter'), pointers } : { pointers };
}

/** Whether a node is a part of the request. */
export function isSent(node) {
  return isGroup(node) ? node.rules.some(isSent) : !node.draft;
}

function ruleJson(rule) {
  const { column, operator } = rule;
  return needsValue(operator) ? { column, operator, value: operandOf(rule) } : { column, operator };
}

/**
 * Makes the nodes of the builder from JSON.
 *
 * @throws {Error} for JSON that is neither a group nor a rule.
 */
export function filterFromJson(json) {
  const root = nodeFromJson(json, 'The filter');
  return isGroup(root) ? root : newGroup([root]);
}

function nodeFromJson(json, what) {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw new Error(`${what} must be an object.`);
  }
  if ('rules' in json) {
    const { condition = 'AND', rules, ...others } = json;
    refuseOthers(others, what);
    if (!Array.isArray(rules)) throw new Error(`"rules" of ${what.toLowerCase()} must be a list.`);
    if (condition !== 'AND' && condition !== 'OR') throw new Error(`"condition" must be "AND" or "OR".`);
    return newGroup(
      rules.map((rule, at) => nodeFromJson(rule, `Rule ${at + 1}`)),
      condition,
    );
  }
  const { column, operator, value, ...others } = json;
  refuseOthers(others, what);
  if (typeof column !== 'string' || typeof operator !== 'string') {
    throw new Error(`${what} needs "column" and "operator", or "rules".`);
  }
  if (value !== undefined && !['string', 'number', 'boolean'].includes(typeof value)) {
    throw new Error(`"value" of ${what.toLowerCase()} must be a text, a number or a boolean.`);
  }
  return ruleOf(column, operator, value);
}

function refuseOthers(others, what) {
  const [name] = Object.keys(others);
  if (name !== undefined) throw new Error(`${what} has an unknown member "${name}".`);
}

/** Returns the tree with `change` applied to the node with a key; `undefined` removes it. */
export function changeNode(root, key, change) {
  if (root.key === key) return change(root);
  if (!isGroup(root)) return root;
  const rules = root.rules.map((rule) => changeNode(rule, key, change)).filter((rule) => rule !== undefined);
  return { ...root, rules };
}

/** Whether two rules are the same in a request. */
export const isSameRule = (a, b) => JSON.stringify(ruleJson(a)) === JSON.stringify(ruleJson(b));
