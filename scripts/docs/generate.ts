// Writes the generated sections of docs/reference. `npm run generate:docs` runs it; a test compares.
import { fileURLToPath } from 'node:url';
import { generate } from './sections.js';

await generate(fileURLToPath(new URL('../../', import.meta.url)));
