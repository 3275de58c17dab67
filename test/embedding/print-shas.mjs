// Embeds the texts of its standard input (JSON) in a process of its own; prints the vectors' sha256 (JSON).
// argv: how many workers.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createEmbedder } from '../../src/embedding/index.js';

const texts = JSON.parse(readFileSync(0, 'utf8'));
const embedder = await createEmbedder({ workers: Number(process.argv[2]) });
const vectors = await Promise.all(texts.map((text) => embedder.embedPassages([text])));
await embedder.close();
console.log(
  JSON.stringify(
    vectors.map(({ vectors }) => createHash('sha256').update(new Uint8Array(vectors.buffer)).digest('hex')),
  ),
);
