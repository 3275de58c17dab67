import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { open } from 'cosift';
import { expect, test } from 'vitest';
import { testDirectory } from '../helpers/archives.js';
import { inFull } from '../helpers/full.js';

/** The size of the longest document, in bytes. */
const LONGEST = inFull(200_000, 20_000);
const DOCUMENTS = inFull(50, 5);
const QUESTIONS = inFull(400, 30);

/**
 * The documents of this project in one file of 200 kB; then each of them, and Markdown files of its dependencies. The reference
 * repeats sentences of the other pages.
 */
function documents(): string[] {
  const own = markdownOf('docs').filter((name) => !name.includes('reference'));
  const others = markdownOf('node_modules').filter((name) => !/changelog|license/i.test(name));
  const texts = [...own, ...others].map((name) => readFileSync(name, 'utf8'));
  const all = Buffer.from(texts.slice(0, own.length).join('\n\n'));
  const longest = all.subarray(0, LONGEST - 3).toString('utf8');
  const fitting = texts.filter((text) => text.length > 2_000 && Buffer.byteLength(text) <= LONGEST);
  return [longest, ...new Set(fitting)].slice(0, DOCUMENTS);
}

function markdownOf(directory: string): string[] {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => name.endsWith('.md'));
  return files.sort().map((name) => path.join(directory, name));
}

/** Sentences of paragraphs, without code, lists, tables and headings. */
function sentencesOf(text: string): string[] {
  const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });
  return text
    .replaceAll(/^(```|~~~)[\s\S]*?^\1/gm, '')
    .split(/\n\s*\n/)
    .filter((paragraph) => /^[A-Z]/.test(paragraph))
    .flatMap((paragraph) => [...segmenter.segment(paragraph)].map(({ segment }) => segment.trim()))
    .filter((sentence) => /^[A-Z].*\.$/s.test(sentence) && sentence.split(/\s+/).length >= 8)
    .filter((sentence) => text.includes(sentence) && sentence.length < 400);
}

/** Whether a text has most of a sentence in a range: a sentence may end in the next passage. */
function hasMost(text: string, { start, end }: { start: number; end: number }, sentence: string): boolean {
  for (let at = text.indexOf(sentence); at >= 0; at = text.indexOf(sentence, at + 1)) {
    if (2 * (Math.min(end, at + sentence.length) - Math.max(start, at)) > sentence.length) return true;
  }
  return false;
}

test(
  'documents of up to 200 kB are stored whole, and the best passage of the document of a sentence has it in 95 %',
  async () => {
    await using cosift = await open(await testDirectory());
    const database = await cosift.createDatabase('documents', {
      embed: { columns: ['text'], passages: { per_record: 4_096 } },
      lexical: true,
      defaults: { lexical: 0.5, threshold: 0 },
    });
    const texts = documents();
    expect(texts).toHaveLength(DOCUMENTS);
    for (const [at, text] of texts.entries()) await database.upsert([{ id: at + 1, data: { text } }]);
    const sentences = [...new Set(texts.flatMap(sentencesOf))];
    const step = Math.ceil(sentences.length / QUESTIONS);
    const asked = sentences.filter((_, at) => at % step === 0);
    const counts = { right: 0, first: 0, found: 0 };
    for (const sentence of asked) {
      const { results } = await database.search(sentence, { passages: 1, limit: 10 });
      const own = results.findIndex(({ data }) => String(data.text).includes(sentence));
      if (own === 0) counts.first += 1;
      if (own < 0) continue;
      counts.found += 1;
      const { data, best_passages } = results[own]!;
      if (hasMost(String(data.text), best_passages![0]!, sentence)) counts.right += 1;
    }
    const { passages } = await database.describe();
    console.log(`${asked.length} sentences of ${DOCUMENTS} documents with ${passages} passages:`, counts);
    expect(asked.length).toBeGreaterThan(QUESTIONS / 2);
    expect(counts.right / asked.length).toBeGreaterThanOrEqual(0.95);
    expect(counts.first / asked.length).toBeGreaterThanOrEqual(0.9);
  },
  inFull(900_000, 60_000),
);
