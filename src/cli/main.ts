#!/usr/bin/env node
import { run } from './index.js';

// Output that nobody reads, as after `cosift … | head`, does not end a command in the middle of its work.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

await run(process.argv.slice(2));
