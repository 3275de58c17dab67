// The main module of a process that reads one SQLite file of another program, whose path is its argument. It takes a
// statement a line of standard input, as a JSON string, and answers as `NativeSqliteFile` does.
//
// A process of its own, because a process that closes a file loses all its locks on the file, also those of another copy of
// SQLite in it, which then lets other programs write at the same time.
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { loadEngine } from './load-engine.js';

const [, , path = ''] = process.argv;
const engine = loadEngine();
let file: InstanceType<typeof engine.NativeSqliteFile> | undefined;
for await (const line of createInterface({ input: process.stdin })) {
  try {
    file ??= new engine.NativeSqliteFile(path);
    file.answer(JSON.parse(line));
  } catch (error) {
    writeSync(1, `${JSON.stringify({ error: (error as Error).message, is_busy: false })}\n`);
  }
}
