import { operationPath, requestOf, TIMES } from './query.js';

/** The programs that a query can be copied as. Each reads the key from an environment variable. */
export const LANGUAGES = [
  { id: 'curl', name: 'curl', write: curl },
  { id: 'typescript', name: 'TypeScript', write: typescript },
  { id: 'python', name: 'Python', write: python },
];

const KEY = 'COSIFT_KEY';

/** The text of a query in a language. `address` is that of the service, without a slash at its end. */
export function codeOf(language, query, address) {
  const { operation, body } = requestOf(query);
  const { write } = LANGUAGES.find(({ id }) => id === language);
  const path = `/v1/databases/${encodeURIComponent(query.database)}${operationPath(operation, query.variant)}`;
  return write({ operation, body, path, address, database: query.database });
}

function curl({ body, path, address }) {
  return [
    `curl -s ${shellWord(address + path)} \\`,
    `  -H "x-api-key: $${KEY}" -H 'content-type: application/json' \\`,
    `  -d ${shellWord(JSON.stringify(body))}`,
    '',
  ].join('\n');
}

/** A text as one word of a POSIX shell. `encodeURIComponent` keeps quotes and brackets, so addresses need it, too. */
const shellWord = (text) => `'${text.replaceAll("'", "'\\''")}'`;

function typescript({ operation, body, address, database }) {
  const { search: { text, ...scores } = {}, time_range: timeRange, sort, pagination, ...others } = body;
  const options = {
    ...scores,
    ...others,
    ...(timeRange && { timeRange }),
    ...(sort && { sort: { ...sort, ...(sort.time && { time: libraryTime(sort.time) }) } }),
    ...pagination,
  };
  const parts = [...(text === undefined ? [] : [JSON.stringify(text)]), JSON.stringify(options, null, 2)];
  return [
    "import { Client } from '@cosift/client';",
    '',
    `const client = new Client({ url: ${JSON.stringify(address)}, key: process.env.${KEY} ?? '' });`,
    `const page = await client.database(${JSON.stringify(database)}).${operation}(${parts.join(', ')});`,
    'for (const record of page.results) console.log(record);',
    'await client.close();',
    '',
  ].join('\n');
}

/** The name that the library has for a time of a record: that of variant A. */
function libraryTime(name) {
  const [time] = Object.entries(TIMES.B).find(([, inB]) => inB === name) ?? [];
  return time === undefined ? name : TIMES.A[time];
}

function python({ body, path, address }) {
  return [
    'import json, os, urllib.request',
    '',
    'request = urllib.request.Request(',
    `    ${JSON.stringify(address + path)},`,
    `    data=json.dumps(${pythonValue(body, 1)}).encode(),`,
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
