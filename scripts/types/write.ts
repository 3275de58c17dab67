import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { generateTypes } from './generate.js';

for (const [path, text] of generateTypes()) {
  const file = new URL(`../../${path}`, import.meta.url);
  mkdirSync(dirname(file.pathname), { recursive: true });
  writeFileSync(file, text);
}
