// Ends the process with code 7 while its workers run long texts.
import { createEmbedder } from '../../src/embedding/index.js';

const embedder = await createEmbedder({ workers: 2 });
const texts = Array.from({ length: 200 }, (_, i) => `${'word '.repeat(200)} ${i}`);
embedder.embedPassages(texts).catch(() => {});
// Served in turn with the others: once this is done, both workers have one of them in hand.
await embedder.embedPassages(['short']);
setImmediate(() => process.exit(7));
