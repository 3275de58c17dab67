// Turns this machine's Debian package index into NDJSON records: bench/cache/debian.ndjson.
//
//   apt-get update && npm run bench:debian
//
// Ids are the positions of the packages in the index, so they are stable for one index.
import { spawn } from 'node:child_process';
import { createWriteStream, mkdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { finished } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';

const target = join(dirname(fileURLToPath(import.meta.url)), '..', 'cache', 'debian.ndjson');

/** Columns in output order, with the name of the field in the index. */
const TEXTS = [
  ['package', 'Package'],
  ['section', 'Section'],
  ['priority', 'Priority'],
  ['maintainer', 'Maintainer'],
  ['homepage', 'Homepage'],
  ['version', 'Version'],
  ['architecture', 'Architecture'],
  ['source', 'Source'],
  ['tag', 'Tag'],
  ['description', 'Description'],
];

/** The fields of one stanza. A continuation line belongs to the field above it, and `.` is an empty line. */
function fieldsOf(lines) {
  const fields = {};
  let name;
  for (const line of lines) {
    if (/^\s/.test(line)) {
      const more = line.trim();
      fields[name] += `\n${more === '.' ? '' : more}`;
    } else {
      const colon = line.indexOf(':');
      name = line.slice(0, colon);
      // Translated descriptions carry a language: Description-en.
      if (name.startsWith('Description-') && name !== 'Description-md5') name = 'Description';
      fields[name] = line.slice(colon + 1).trim();
    }
  }
  return fields;
}

function recordOf(id, fields) {
  const data = {};
  for (const [column, name] of TEXTS) {
    if (fields[name] !== undefined) data[column] = fields[name];
  }
  // In KiB, as in the index.
  if (fields['Installed-Size'] !== undefined) data.installed_size = Number(fields['Installed-Size']);
  if (fields.Size !== undefined) data.download_size = Number(fields.Size);
  data.essential = fields.Essential === 'yes';
  return { id, data };
}

mkdirSync(dirname(target), { recursive: true });
const part = `${target}.part`;
const out = createWriteStream(part);
const apt = spawn('apt-cache', ['dumpavail'], { stdio: ['ignore', 'pipe', 'inherit'] });
const exit = new Promise((resolve, reject) => apt.once('error', reject).once('close', resolve));
let id = 0;
let stanza = [];

async function flush() {
  if (stanza.length === 0) return;
  id += 1;
  const line = `${JSON.stringify(recordOf(id, fieldsOf(stanza)))}\n`;
  stanza = [];
  if (!out.write(line)) await new Promise((resolve) => out.once('drain', resolve));
}

for await (const line of createInterface({ input: apt.stdout, crlfDelay: Infinity })) {
  if (line === '') await flush();
  else stanza.push(line);
}
await flush();
out.end();
await finished(out);
const code = await exit;
if (code !== 0 || id === 0) {
  console.error(`apt-cache dumpavail gave ${id} packages (exit code ${code}); run apt-get update first`);
  process.exit(1);
}
renameSync(part, target);
console.log(`${id} packages in ${target}`);
