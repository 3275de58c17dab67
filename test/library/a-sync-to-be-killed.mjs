// A process that brings a database in step with the rows in a file, and tells of each commit, until it is killed.
import { readFileSync } from 'node:fs';
import { open } from '../../dist/index.js';
import { models } from './models-of-two-angles.mjs';

const [, , directory, file] = process.argv;
const cosift = await open(directory, { models });
const rows = () => JSON.parse(readFileSync(file, 'utf8'));
const onProgress = () => process.send({ committed: true });
const sync = await cosift.database('facts').sync({ name: 'shop', rows, key: 'sku' }, { onProgress });
await sync.once();
process.send({ inStep: true });
await cosift.close();
process.disconnect();
