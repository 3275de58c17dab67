import { many } from '../format.js';
import { html } from '../html.js';
import { useState } from '../vendor/hooks.js';
import { Embedding, ExistingEmbedding, embeddable } from './embedding.js';
import { passagesOf } from './passages.js';

const TYPES = ['text', 'number', 'boolean', 'list'];
const NAME = /^[a-z0-9_-]{1,64}$/;

/** The first rows of a file, and how they are stored. */
export function Preview({ task, service }) {
  const { file, content, choices } = task;
  const { idColumn, rename = {}, nulls = [], vectorColumn } = choices;
  const { databases = [], rights } = service;
  const [types, setTypes] = useState({});
  const [name, setName] = useState(() => freeName(nameOf(file.name), databases));
  const [target, setTarget] = useState(rights.create ? '' : (databases[0]?.id ?? ''));
  const [fault, setFault] = useState();
  const [columnFault, setColumnFault] = useState();
  const [chosen, setChosen] = useState(new Map());
  const [isLexical, setLexical] = useState(false);
  const [passages, setPassages] = useState({});
  const [embeddingFault, setEmbeddingFault] = useState();
  const isNew = target === '';
  const hasVectors = content.dimensions !== undefined;
  const readAgain = (changes) => task.read(file, { ...choices, ...changes });
  const renameColumn = (name, to) => {
    const isTaken = content.columns.some((column) => column.name === to);
    const problem = to === '' ? 'A column needs a name.' : isTaken && `There is a column ${to} already.`;
    setColumnFault(problem || undefined);
    if (problem) return;
    const [original] = Object.entries(rename).find(([, now]) => now === name) ?? [name];
    const { [name]: type, ...others } = types;
    setTypes({ ...others, [to]: type });
    const renamed = [...chosen].map(([column, isEmbedded]) => [column === name ? to : column, isEmbedded]);
    setChosen(new Map(renamed));
    readAgain({ rename: { ...rename, [original]: to }, idColumn: idColumn === name ? to : idColumn });
  };
  const embedding = embeddable(content, types, chosen);
  const submit = (event) => {
    event.preventDefault();
    const database = isNew ? name : target;
    const columns = embedding.filter(({ isEmbedded }) => isEmbedded).map(({ name }) => name);
    if (!NAME.test(database)) setFault('A name has 1 to 64 of the characters a-z 0-9 _ -');
    else if (isNew && databases.some(({ id }) => id === name)) {
      setFault(`There is a database ${name} already. Choose it as the target, or another name.`);
    } else if (isNew && !hasVectors && embedding.length > 0 && columns.length === 0) {
      setEmbeddingFault('Choose at least one column.');
    } else {
      const settings = settingsOf(content, { columns, isLexical, passages });
      task.store({ database, types, settings: isNew ? settings : undefined });
    }
  };
  return html`<form class="preview" onSubmit=${submit}>
    <p>
      <b>${file.name}</b> · ${content.format} · ${many(content.rows, 'row')} · ${many(content.columns.length, 'column')}
      ${content.broken > 0 && html` · <span class="fault">${many(content.broken, 'row')} cannot be read</span>`}
    </p>
    <div class="table" tabindex="0" role="group" aria-label="First rows">
      <table>
        <thead>
          <tr>
            ${content.columns.map(
              ({ name, type }) => html`<th scope="col">
                <input
                  aria-label=${`Name of ${name}`}
                  spellcheck="false"
                  autocomplete="off"
                  size=${Math.max(6, name.length)}
                  value=${name}
                  onChange=${({ target }) => {
                    if (target.value !== name) renameColumn(name, target.value);
                    target.value = name;
                  }}
                />
                <select
                  aria-label=${`Type of ${name}`}
                  value=${types[name] ?? type ?? ''}
                  onChange=${({ target }) => setTypes({ ...types, [name]: target.value || undefined })}
                >
                  ${content.typed && html`<option value="">as in the file</option>`}
                  ${TYPES.map(
                    (choice) =>
                      html`<option value=${choice} selected=${choice === (types[name] ?? type)}>${choice}</option>`,
                  )}
                  ${
                    name !== content.identity.column &&
                    html`<option value="skip" selected=${types[name] === 'skip'}>left out</option>`
                  }
                </select>
              </th>`,
            )}
          </tr>
        </thead>
        <tbody>
          ${content.sample
            .slice(0, 8)
            .map((row) => html`<tr>${row.map((text) => html`<td title=${text}>${text}</td>`)}</tr>`)}
        </tbody>
      </table>
    </div>
    ${content.notes.length > 0 && html`<ul class="muted">${content.notes.map((note) => html`<li>${note}</li>`)}</ul>`}
    <div class="choices">
      <label>
        Identity
        <select value=${idColumn ?? ''} onChange=${({ target }) => readAgain({ idColumn: target.value || undefined })}>
          <option value="" selected=${idColumn === undefined}>${automatic(content)}</option>
          ${content.columns.map(
            ({ name }) => html`<option value=${name} selected=${name === idColumn}>column ${name}</option>`,
          )}
        </select>
      </label>
      <label>
        Database
        <select aria-label="Target database" value=${target} onChange=${({ target }) => setTarget(target.value)}>
          ${rights.create && html`<option value="" selected=${isNew}>a new one</option>`}
          ${databases.map(({ id }) => html`<option value=${id} selected=${id === target}>${id}</option>`)}
        </select>
      </label>
      ${
        isNew &&
        html`<label>
          Name
          <input
            spellcheck="false"
            autocomplete="off"
            aria-invalid=${fault !== undefined}
            value=${name}
            onInput=${({ target }) => {
              setName(target.value);
              setFault(undefined);
            }}
          />
        </label>`
      }
      ${
        !content.typed &&
        html`<label>
          No value
          <input
            spellcheck="false"
            autocomplete="off"
            placeholder="such as NA, NULL"
            value=${nulls.join(', ')}
            onChange=${({ target }) => readAgain({ nulls: textsIn(target.value) })}
          />
        </label>`
      }
      ${
        (content.vectorColumns.length > 0 || vectorColumn !== undefined) &&
        html`<label>
          Vectors
          <select value=${vectorColumn ?? ''} onChange=${({ target }) => readAgain({ vectorColumn: target.value })}>
            <option value="" selected=${!hasVectors}>none: texts are embedded</option>
            ${vectorNames(content, vectorColumn).map(
              (name) =>
                html`<option value=${name} selected=${hasVectors && name === (vectorColumn || 'vector')}>column ${name}</option>`,
            )}
          </select>
        </label>`
      }
    </div>
    <p class="muted">${identityText(content)}</p>
    ${
      isNew &&
      hasVectors &&
      html`<p class="muted">
        The vectors have ${content.dimensions} values. The database has no model: searches bring their own vectors.
      </p>`
    }
    ${
      isNew
        ? !hasVectors &&
          html`<${Embedding}
            columns=${embedding}
            isLexical=${isLexical}
            passages=${passages}
            onPassages=${setPassages}
            fault=${embeddingFault}
            onChoose=${(name, isEmbedded) => {
              setChosen(new Map(chosen).set(name, isEmbedded));
              setEmbeddingFault(undefined);
            }}
            onLexical=${setLexical}
          />`
        : html`<${ExistingEmbedding} database=${databases.find(({ id }) => id === target)} content=${content} />`
    }
    ${columnFault && html`<p class="fault" role="alert">${columnFault}</p>`}
    ${fault && html`<p class="fault" role="alert">${fault}</p>`}
    ${content.rows === 0 && html`<p class="fault" role="alert">The file has no records.</p>`}
    <p class="actions">
      <button
        class="primary"
        type="submit"
        disabled=${task.isReading || content.rows === 0 || (isNew && !rights.create)}
      >
        Import
      </button>
      <button type="button" onClick=${task.restart}>Choose another file</button>
    </p>
  </form>`;
}

/** The settings of a new database. One without texts embeds those of later records. */
function settingsOf({ dimensions, isNested }, { columns, isLexical, passages }) {
  const split = passagesOf(passages);
  const embed = { ...(columns.length > 0 && { columns }), ...(split && { passages: split }) };
  return {
    ...(dimensions === undefined
      ? { ...(Object.keys(embed).length > 0 && { embed }), ...(isLexical && { lexical: true }) }
      : { dimensions }),
    ...(isNested && { flatten: true }),
  };
}

/** The texts that are named between commas. */
function textsIn(value) {
  const texts = value.split(',').map((text) => text.trim());
  return texts.filter((text) => text !== '');
}

/** The columns that may have the vectors: those of the file, and the one that is left out. */
function vectorNames({ vectorColumns }, vectorColumn) {
  return [...new Set(vectorColumn === '' ? ['vector', ...vectorColumns] : vectorColumns)];
}

/** A name for a database, from that of a file. */
function nameOf(file) {
  const base = file.toLowerCase().replace(/\.[a-z]+$/, '');
  return base
    .replaceAll(/[^a-z0-9_]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 64);
}

/** The name, or the first of `name-2`, `name-3` and so on that no database has. */
function freeName(name, databases) {
  const isTaken = (wanted) => databases.some(({ id }) => id === wanted);
  let free = name;
  for (let number = 2; isTaken(free); number += 1) free = `${name.slice(0, 58)}-${number}`;
  return free;
}

function automatic({ identity, typed }) {
  if (identity.column !== undefined) return `column ${identity.column}`;
  return typed ? 'id or uuid of each record, else its content' : 'the content of each row';
}

/** What the identity means for a second import. */
function identityText({ identity: { column, kind } }) {
  if (column === undefined) return 'Importing the same file again changes nothing.';
  const what = { id: 'integer ids', uuid: 'UUIDs', key: 'keys' }[kind];
  return `The values of ${column} are ${what}: a record that is imported again replaces the one before.`;
}
