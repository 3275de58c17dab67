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
  in: { text: 'is one of', operand: 'list' },
  not_in: { text: 'is none of', operand: 'list' },
  before: { text: 'is before', operand: 'time' },
  on_or_before: { text: 'is on or before', operand: 'time' },
  after: { text: 'is after', operand: 'time' },
  on_or_after: { text: 'is on or after', operand: 'time' },
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

export function ruleOf(column, operator, value = '') {
  const type = typeOf(value);
  const text = Array.isArray(value) ? value.map((item) => itemText(item, type)).join(', ') : String(value);
  return { key: nextKey(), column, operator, value: text, type, isTypeChosen: true, draft: false };
}

/** The type of a value; of a list that of its first item that is no text. */
function typeOf(value) {
  const example = Array.isArray(value) ? value.find((item) => typeof item !== 'string') : value;
  return typeof example === 'string' || example === undefined ? 'text' : typeof example;
}

/** An item of a list as it is entered: a text in quotes where it would be read as something else. */
function itemText(item, type) {
  const text = String(item);
  const [read] = itemsOf(text, type);
  return read === item && itemsOf(text, type).length === 1 ? text : JSON.stringify(item);
}

const ITEM = /\s*("(?:[^"\\]|\\.)*"(?=\s*(?:,|$))|[^,]*)\s*(?:,|$)/gy;

/** The items of a list as it is entered, separated by commas. A text with a comma is entered in quotes, as in JSON. */
function itemsOf(list, type) {
  const items = [...list.matchAll(ITEM)].map(([, item]) => item.trim()).filter((item) => item !== '');
  return items.map((item) => {
    if (type !== 'text' && isNumber(item)) return Number(item);
    if (type !== 'text' && isBoolean(item)) return item === 'true';
    return quotedText(item) ?? item;
  });
}

/** The text of a JSON string; undefined if it is none. */
function quotedText(item) {
  if (!/^".*"$/s.test(item)) return undefined;
  try {
    return JSON.parse(item);
  } catch {
    return undefined;
  }
}

export const isGroup = (node) => node.rules !== undefined;

/** The operand of a rule, as JSON has it. A text that is no value of the type stays text: the service says what is wrong. */
function operandOf({ operator, value, type }) {
  const { operand = 'any' } = OPERATORS[operator] ?? {};
  if (operand === 'list') return itemsOf(value, type);
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
  ['any', 'list'].includes(OPERATORS[operator]?.operand) && types.length > 1 ? types.map(operandType) : [];

/**
 * The type of what is entered for a rule: the chosen one, or the first type of the column that has such a value, or such
 * an item of the list.
 */
export function typeOfInput({ operator, type, isTypeChosen }, value, types) {
  const values = OPERATORS[operator]?.operand === 'list' ? itemsOf(value, 'text') : [value];
  const isType = { number: isNumber, boolean: isBoolean, text: () => true };
  if (isTypeChosen && types.length > 1 && values.some(isType[type])) return type;
  return ['boolean', 'number'].find((name) => types.includes(name) && values.some(isType[name])) ?? 'text';
}

const operandType = (type) => (type === 'string' ? 'text' : type);

/** What an input for a rule without a value shows. */
export const exampleOf = (operator) =>
  ({ list: 'France, "a, b"', time: '2026-01-31' })[OPERATORS[operator]?.operand] ?? 'value';

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
  const isList = OPERATORS[operator]?.operand === 'list';
  const items = isList ? value : [value];
  const isScalar = (item) => ['string', 'number', 'boolean'].includes(typeof item);
  if (value !== undefined && !(Array.isArray(items) && items.every(isScalar))) {
    const expected = isList ? 'a list of texts, numbers and booleans' : 'a text, a number or a boolean';
    throw new Error(`"value" of ${what.toLowerCase()} must be ${expected}.`);
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
