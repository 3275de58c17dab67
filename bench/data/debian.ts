import { createReadStream, existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createEmbedder } from '../../src/embedding/index.js';
import { CACHE_DIRECTORY, type DatasetKey, nameOf, QUERIES, SEED } from './dataset.js';

/** The Debian package index as records, made by `npm run bench:debian`. */
const RECORDS = join(CACHE_DIRECTORY, 'debian.ndjson');
const BATCH = 2_048;

/** Whether the real data exists. */
export function hasDebian(): boolean {
  return existsSync(RECORDS);
}

/**
 * Package descriptions embedded by the built-in model, with the same synthetic columns as other datasets:
 * real vectors, and filters with known selectivity. Embedding them once takes minutes.
 */
export async function debianKey(say: (text: string) => void): Promise<DatasetKey> {
  const texts: string[] = [];
  for await (const line of createInterface({ input: createReadStream(RECORDS) })) {
    if (line !== '') texts.push((JSON.parse(line) as { data: { description: string } }).data.description);
  }
  const key: DatasetKey = { source: 'debian', records: texts.length, dimensions: 384, seed: SEED };
  const path = join(CACHE_DIRECTORY, `${nameOf(key)}.f32`);
  if (existsSync(path)) return key;
  const embedder = await createEmbedder();
  try {
    const chunks: Buffer[] = [];
    for (let start = 0; start < texts.length; start += BATCH) {
      say(`embedding package descriptions: ${start} of ${texts.length}, once`);
      chunks.push(bytesOf((await embedder.embedPassages(texts.slice(start, start + BATCH))).vectors));
    }
    for (const text of QUERY_TEXTS) chunks.push(bytesOf(new Float32Array(await embedder.embedQuery(text))));
    writeFileSync(`${path}.${process.pid}`, Buffer.concat(chunks));
    renameSync(`${path}.${process.pid}`, path);
  } finally {
    await embedder.close();
  }
  return key;
}

function bytesOf(values: Float32Array): Buffer {
  return Buffer.from(values.buffer, values.byteOffset, values.byteLength);
}

const TASKS = [
  'convert pdf to images',
  'edit photos',
  'play music from the terminal',
  'watch network traffic',
  'back up files to a remote server',
  'compile programs for small devices',
  'draw diagrams',
  'manage passwords',
  'browse the web privately',
  'read electronic books',
  'record the screen',
  'learn to type faster',
  'solve equations',
  'align genome sequences',
  'look at the stars',
  'check the spelling of a text',
  'send mail from a script',
  'serve files over http',
  'find duplicate files',
  'recover deleted files',
  'compress archives',
  'monitor disk health',
  'translate documents',
  'run a database',
  'play chess',
  'scan for viruses',
  'write music scores',
  'test a web application',
  'burn a disc',
  'plan a project',
  'share a printer',
  'model molecules',
];

/** Questions to a package index, each in two wordings. */
export const QUERY_TEXTS: readonly string[] = TASKS.flatMap((task) => [
  `tool to ${task}`,
  `I want to ${task} on my computer`,
]).slice(0, QUERIES);
