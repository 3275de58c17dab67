import { expect, test, vi } from 'vitest';
import { forTerminal } from '../../src/cli/export/output.js';
import { escaped, shownJson, warn } from '../../src/cli/failure.js';
import { parseOrdered, writeOrdered } from '../../src/cli/ordered-json.js';
import { bytesOf } from '../helpers/archives.js';

const HOSTILE = 'a\u009b2J\u202eb\u2066c\u2028é😀';

async function* bytewise(text: string): AsyncGenerator<Uint8Array> {
  for (const byte of Buffer.from(text)) yield Uint8Array.of(byte);
}

test('NDJSON on a terminal has escapes with the same meaning', async () => {
  const lines = `${JSON.stringify({ text: HOSTILE })}\n{}\n`;
  const shown = String(await bytesOf(forTerminal(bytewise(lines), 'ndjson')));
  expect(shown).toBe('{"text":"a\\u009b2J\\u202eb\\u2066c\\u2028é😀"}\n{}\n');
  expect(JSON.parse(shown.split('\n')[0] ?? '')).toEqual({ text: HOSTILE });
});

test('CSV on a terminal has spaces for control characters, and its lines', async () => {
  const shown = String(await bytesOf(forTerminal(bytewise(`id,t\n1,\u001b[2J${HOSTILE}\n`), 'csv')));
  expect(shown).toBe('id,t\n1, [2Ja 2J b c é😀\n');
});

test('JSON of records and warnings do not control it either', () => {
  expect(escaped('"\u202e\u202e"')).toBe('"\\u202e\\u202e"');
  expect(writeOrdered(parseOrdered('{"\u202e":"\u2066"}'))).toBe('{"\\u202e":"\\u2066"}');
  expect(shownJson({ name: HOSTILE }, 2)).toBe('{\n  "name": "a\\u009b2J\\u202eb\\u2066c\\u2028é😀"\n}');
  const written = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  warn('a\u001b[2J\u202eb');
  expect(written.mock.calls).toEqual([['cosift: warning: a [2J b']]);
  written.mockRestore();
});
