import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { openApiDocument } from '../../src/server/openapi/document.js';
import { HTTP_API } from '../../src/server/variants/variants.js';

const run = promisify(execFile);
const HERE = fileURLToPath(new URL('.', import.meta.url));
const { resolve } = createRequire(import.meta.url);
const moduleOf = (name: string) => path.dirname(resolve(`${name}/package.json`));

test('a program with the types that openapi-typescript makes by default compiles without a cast', async () => {
  const directory = await mkdtemp(path.join(HERE, 'out-'));
  try {
    const document = path.join(directory, 'openapi.json');
    await writeFile(document, JSON.stringify(openApiDocument(HTTP_API)));
    await run(process.execPath, [
      path.join(moduleOf('openapi-typescript'), 'bin/cli.js'),
      document,
      '--output',
      path.join(directory, 'api.ts'),
    ]);
    const config = {
      compilerOptions: {
        strict: true,
        target: 'ES2022',
        lib: ['ES2022', 'DOM'],
        module: 'NodeNext',
        types: [],
        skipDefaultLibCheck: true,
        noEmit: true,
        rootDirs: ['.', '..'],
      },
      files: ['../program.ts', 'api.ts'],
    };
    await writeFile(path.join(directory, 'tsconfig.json'), JSON.stringify(config));
    const tsc = path.join(moduleOf('typescript'), 'bin/tsc');
    const output = await run(process.execPath, [tsc, '-p', directory]).catch((error) => error);
    expect(output.stdout).toBe('');
  } finally {
    await rm(directory, { recursive: true });
  }
});
