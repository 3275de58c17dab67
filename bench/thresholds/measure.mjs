// Measures what scores of the built-in model mean for the Debian packages: the figures of docs/how-to/thresholds.md.
//
//   npm run bench:debian && node bench/thresholds/measure.mjs 0 0.3      (the lexical weights)
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { open } from '../../dist/index.js';

const CACHE = new URL('../cache/', import.meta.url);
const THRESHOLDS = [0.1, 0.2, 0.3, 0.4, 0.45, 0.5, 0.6, 0.7];
const UNANSWERED = [
  'how do I bake bread',
  'who won the world cup in 1998',
  'cheap flights to lisbon',
  'asdf qwer zxcv',
  'my neighbour has a red bicycle',
  'symptoms of the flu',
  'lyrics of a love song',
  'price of gold yesterday',
  'best restaurant in vienna',
  'when was napoleon born',
];
const NAMES =
  'gcc gimp ffmpeg nginx git rsync restic vim curl wget bash zsh tmux emacs htop jq nmap perl ruby redis samba squid tor wine xterm yelp zip mutt lynx less'.split(
    ' ',
  );

const linesOf = (url) =>
  readFileSync(url, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
const questions = linesOf(new URL('questions.ndjson', import.meta.url));

const cosift = await open(fileURLToPath(new URL('thresholds', CACHE)));
const packages = await cosift.createDatabase('packages', {
  embed: { columns: ['package', 'description'] },
  lexical: true,
});
if ((await packages.describe()).records === 0) {
  const records = linesOf(new URL('debian.ndjson', CACHE));
  // The first line of a description; the others are absent from some indexes.
  const short = ({ package: name, description }) => ({
    package: name,
    description: description?.split('\n')[0],
  });
  await packages.upsert(records.map(({ id, data }) => ({ id, data: short(data) })));
}

/** The first result that `isRight` accepts: its place and score; undefined if it is not among the first 100. */
async function firstRight(text, lexical, isRight) {
  const { results } = await packages.search(text, { lexical, threshold: 0, limit: 100 });
  const at = results.findIndex(({ data }) => isRight(data.package));
  return at < 0 ? undefined : { place: at + 1, score: results[at].relevance_score };
}

/** The value below which a share of the values is. */
function quantile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

for (const lexical of process.argv.slice(2).map(Number)) {
  console.log(`\nlexical weight ${lexical}`);
  const right = [];
  for (const { question, packages } of questions) {
    right.push(await firstRight(question, lexical, (name) => packages.includes(name)));
  }
  const found = right.filter((answer) => answer !== undefined);
  const wrong = [];
  for (const text of UNANSWERED) {
    const { results } = await packages.search(text, { lexical, threshold: 0, limit: 1 });
    wrong.push(results[0].relevance_score);
  }
  for (const threshold of THRESHOLDS) {
    const counts = [];
    for (const { question } of questions) {
      const options = { lexical, threshold, total: true, limit: 1 };
      counts.push((await packages.search(question, options)).total.value);
    }
    const passing = found.filter(({ score }) => score >= threshold).length;
    const misleading = wrong.filter((score) => score >= threshold).length;
    console.log(
      `${threshold}: ${quantile(counts, 0.5)} records (${Math.min(...counts)} to ${Math.max(...counts)}), ` +
        `${passing} of ${right.length} answers, ${misleading} of ${wrong.length} without an answer`,
    );
  }
  const scores = found.map(({ score }) => score);
  const first = (answers) => answers.filter((answer) => answer?.place === 1).length;
  console.log(
    `right answers: median ${quantile(scores, 0.5)}, tenth ${quantile(scores, 0.1)}, first ${first(right)}`,
  );
  const names = [];
  for (const name of NAMES) names.push(await firstRight(name, lexical, (found) => found === name));
  const ofNames = names.map((answer) => answer?.score ?? 0);
  console.log(
    `names: median ${quantile(ofNames, 0.5)}, tenth ${quantile(ofNames, 0.1)}, first ${first(names)} of ${names.length}`,
  );
}
await cosift.close();
