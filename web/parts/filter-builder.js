import { typeOfColumn } from '../columns.js';
import {
  changeNode,
  exampleOf,
  isGroup,
  needsValue,
  newGroup,
  newRule,
  OPERATORS,
  typeOfInput,
  typesOfOperand,
} from '../filter.js';
import { html } from '../html.js';
import { useLayoutEffect, useRef } from '../vendor/hooks.js';

/** The rules of the filter, as a tree of groups. `faults` are what the service says, by the key of the node. */
export function FilterBuilder({ root, columns, faults, onChange }) {
  /** The key of a rule that was added here, until it has the focus. */
  const added = useRef();
  const change = (key, update, options) => onChange(changeNode(root, key, update), options);
  return html`<${Rules} node=${root} depth=${0} columns=${columns} faults=${faults} change=${change} added=${added} />`;
}

function Rules({ node, depth, columns, faults, change, added }) {
  const add = (wrap) => {
    const rule = newRule(columns[0]?.name ?? '');
    added.current = rule.key;
    change(node.key, (group) => ({ ...group, rules: [...group.rules, wrap(rule)] }));
  };
  const nested = depth > 0 ? 'nested ' : '';
  return html`<div class=${depth > 0 ? 'group nested' : 'group'}>
    ${node.rules.length > 1 && html`<${Condition} node=${node} change=${change} />`}
    ${node.rules.map((rule, at) =>
      isGroup(rule)
        ? html`<div key=${rule.key} role="group" aria-label=${`Nested rules ${at + 1}`}>
            <${Rules} node=${rule} depth=${depth + 1} columns=${columns} faults=${faults} change=${change} added=${added} />
          </div>`
        : html`<${Rule} key=${rule.key} rule=${rule} at=${at} columns=${columns} faults=${faults} change=${change} added=${added} />`,
    )}
    ${(faults.get(node.key) ?? []).map((fault) => html`<p class="fault" role="alert">${fault}</p>`)}
    <p class="adders">
      <button type="button" aria-label=${`Add ${nested}rule`} onClick=${() => add((rule) => rule)}>
        + rule
      </button>
      <button
        type="button"
        aria-label=${`Add ${nested}group`}
        onClick=${() => add((rule) => newGroup([rule], node.condition === 'AND' ? 'OR' : 'AND'))}
      >
        + group
      </button>
      ${
        depth > 0 &&
        html`<button
        class="quiet"
        type="button"
        onClick=${({ currentTarget }) => {
          focusAdder(currentTarget.closest('.group').parentElement);
          change(node.key, () => undefined);
        }}
      >
        Remove group
      </button>`
      }
    </p>
  </div>`;
}

/** Puts the focus on the button that adds a rule to the group around an element, because the element is removed. */
function focusAdder(element) {
  element.closest('.group').querySelector(':scope > .adders > button').focus();
}

function Condition({ node, change }) {
  const choose = (condition) => change(node.key, (group) => ({ ...group, condition }));
  return html`<p class="condition" role="group" aria-label="Condition">
    ${[
      ['AND', 'all of'],
      ['OR', 'any of'],
    ].map(
      ([condition, text]) =>
        html`<button
          type="button"
          class="segment"
          aria-pressed=${node.condition === condition}
          onClick=${() => choose(condition)}
        >
          ${text}
        </button>`,
    )}
  </p>`;
}

function Rule({ rule, at, columns, faults, change, added }) {
  const first = useRef();
  useLayoutEffect(() => {
    if (added.current !== rule.key) return;
    added.current = undefined;
    first.current.focus();
  }, []);
  const update = (changes, options) => change(rule.key, (before) => ({ ...before, ...changes }), options);
  const known = columns.some(({ name }) => name === rule.column);
  const own = faults.get(rule.key) ?? [];
  const id = `fault-${rule.key}`;
  const types = columns.find(({ name }) => name === rule.column)?.types ?? [];
  const choices = typesOfOperand(rule.operator, types);
  return html`<div class="rule" role="group" aria-label=${`Rule ${at + 1}`}>
    <select
      ref=${first}
      class="column"
      aria-label="Column"
      value=${rule.column}
      onChange=${({ target: { value: column } }) => update({ column, type: typeOfColumn(columns, column), isTypeChosen: false })}
    >
      ${!known && html`<option value=${rule.column} selected>${rule.column === '' ? 'Column' : rule.column}</option>`}
      ${columns.map(
        ({ name, types }) =>
          html`<option value=${name} selected=${name === rule.column}>${name} (${types.map(shortType).join(', ') || 'empty'})</option>`,
      )}
    </select>
    <select
      class="operator"
      aria-label="Operator"
      value=${rule.operator}
      onChange=${({ target: { value: operator } }) =>
        update({ operator, draft: needsValue(operator) && rule.value === '' })}
    >
      ${OPERATORS[rule.operator] === undefined && html`<option value=${rule.operator} selected>${rule.operator}</option>`}
      ${Object.entries(OPERATORS).map(
        ([operator, { text }]) =>
          html`<option value=${operator} selected=${operator === rule.operator}>${text}</option>`,
      )}
    </select>
    <button
      class="quiet remove"
      type="button"
      aria-label=${`Remove rule ${at + 1}`}
      onClick=${({ currentTarget }) => {
        focusAdder(currentTarget);
        change(rule.key, () => undefined);
      }}
    >
      ✕
    </button>
    ${
      needsValue(rule.operator) &&
      html`<input
      class="value"
      type="text"
      aria-label="Value"
      placeholder=${rule.draft ? exampleOf(rule.operator) : 'empty text'}
      spellcheck="false"
      autocomplete="off"
      aria-invalid=${own.length > 0}
      aria-describedby=${own.length > 0 ? id : undefined}
      value=${rule.value}
      onInput=${({ target: { value } }) =>
        update(
          { value, draft: value === '', ...(types.length > 0 && { type: typeOfInput(rule, value, types) }) },
          { isTyped: true },
        )}
    />`
    }
    ${
      choices.length > 0 &&
      html`<select
      class="type"
      aria-label="Type of the value"
      value=${rule.type}
      onChange=${({ target: { value: type } }) => update({ type, isTypeChosen: true })}
    >
      ${choices.map((type) => html`<option value=${type} selected=${type === rule.type}>${type}</option>`)}
    </select>`
    }
    ${own.length > 0 && html`<p class="fault" role="alert" id=${id}>${own.join('; ')}</p>`}
  </div>`;
}

const shortType = (type) => (type === 'string' ? 'text' : type);
