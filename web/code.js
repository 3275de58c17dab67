import { pageRequestOf } from './query.js';
import { VARIANTS } from './variants.js';

/** The programs that a query can be copied as. Each reads the key from an environment variable. */
export const LANGUAGES = [
  { id: 'curl', name: 'curl', write: curl },
  { id: 'typescript', name: 'TypeScript', write: typescript },
  { id: 'python', name: 'Python', write: python },
];

const KEY = 'COSIFT_KEY';

/** The text of a query in a language. `address` is that of the service, without a slash at its end. */
export function codeOf(language, query, address) {
  const { operation, body } = pageRequestOf(query);
  const { write } = LANGUAGES.find(({ id }) => id === language);
  const variant = VARIANTS[query.variant];
  const path = `/v1/databases/${encodeURIComponent(query.database)}${variant.path}/${operation}`;
  const time = variant.times[body.sort?.time];
  const sent = time === undefined ? body : { ...body, sort: { ...body.sort, time } };
  return write({ operation, body, sent, path, address, database: query.database });
}

function curl({ sent, path, address }) {
  return [
    `curl -s ${shellWord(address + path)} \\`,
    `  -H "x-api-key: $${KEY}" -H 'content-type: application/json' \\`,
    `  -d ${shellWord(JSON.stringify(sent))}`,
    '',
  ].join('\n');
}

/** A text as one word of a POSIX shell. `encodeURIComponent` keeps quotes and brackets, so addresses need it, too. */
const shellWord = (text) => `'${text.replaceAll("'", "'\\''")}'`;

function typescript({ operation, body, address, database }) {
  const { search: { text, like, ...scores } = {}, time_range: timeRange, pagination, ...others } = body;
  const options = { ...scores, ...others, ...(timeRange && { timeRange }), ...pagination };
  const query = like === undefined ? text : { like };
  const parts = [query, options].filter((part) => part !== undefined);
  const written = parts.map((part) => JSON.stringify(part, null, 2));
  return [
    "import { Client } from '@cosift/client';",
    '',
    `const client = new Client({ url: ${JSON.stringify(address)}, key: process.env.${KEY} ?? '' });`,
    `const page = await client.database(${JSON.stringify(database)}).${operation}(${written.join(', ')});`,
    'for (const record of page.results) console.log(record);',
    'await client.close();',
    '',
  ].join('\n');
}

function python({ sent, path, address }) {
  return [
    'import json, os, urllib.request',
    '',
    'request = urllib.request.Request(',
    `    ${JSON.stringify(address + path)},`,
    `    data=json.dumps(${pythonValue(sent, 1)}).encode(),`,
    `    headers={"x-api-key": os.environ["${KEY}"], "content-type": "application/json"},`,
    ')',
    'for record in json.load(urllib.request.urlopen(request))["results"]:',
    '    print(record)',
    '',
  ].join('\n');
}

const PYTHON_WORDS = new Map([
  [true, 'True'],
  [false, 'False'],
  [null, 'None'],
]);

function pythonValue(value, depth) {
  const indent = '    '.repeat(depth + 1);
  const end = '    '.repeat(depth);
  if (Array.isArray(value)) {
    return `[\n${value.map((item) => `${indent}${pythonValue(item, depth + 1)},\n`).join('')}${end}]`;
  }
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(
      ([name, member]) => `${indent}${JSON.stringify(name)}: ${pythonValue(member, depth + 1)},\n`,
    );
    return `{\n${members.join('')}${end}}`;
  }
  // A JSON string is a string of Python, too.
  return PYTHON_WORDS.get(value) ?? JSON.stringify(value);
}
