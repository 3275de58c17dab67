import { afterEach, expect, test, vi } from 'vitest';
import { tableLines } from '../../src/cli/records/formats.js';

afterEach(() => vi.unstubAllGlobals());

const record = (name: string, places?: [number, number][]) =>
  new Map<string, unknown>([
    ['relevance_score', 0.5],
    ['id', 1],
    ['data', new Map([['name', name]])],
    ...(places ? ([['highlights', new Map([['name', places]])]] as const) : []),
  ]);
const lines = async (columns: number, ...records: Map<string, unknown>[]) => {
  vi.stubGlobal('process', { ...process, stdout: { isTTY: columns > 0, columns } });
  const format = await tableLines({ members: ['relevance_score', 'id'], columns: ['name'] });
  return format(records as never).slice(1);
};
const places: [number, number][] = [
  [0, 4],
  [10, 15],
];

test('the words are bold, and lines are as wide as they look', async () => {
  const shown = await lines(80, record('iron gate tower', places), record('🗼 Eiffel'));
  expect(shown).toEqual([
    '0.5000  1   \x1b[1miron\x1b[22m gate \x1b[1mtower\x1b[22m',
    '0.5000  1   🗼 Eiffel',
  ]);
});

test('a line that is cut ends what is bold', async () => {
  const shown = await lines(25, record('iron gate towers', places));
  expect(shown).toEqual(['0.5000  1   \x1b[1miron\x1b[22m gate \x1b[1mto\x1b[22m…']);
});

test('a text makes nothing bold itself, and a pipe gets the text alone', async () => {
  expect(await lines(80, record('\u2063a\u2064b', [[1, 2]]))).toEqual(['0.5000  1   \x1b[1ma\x1b[22mb']);
  expect(await lines(80, record('\u2063a\u2064b'))).toEqual(['0.5000  1   \u2063a\u2064b']);
  expect(await lines(0, record('iron gate tower', places))).toEqual(['0.5000  1   iron gate tower']);
});
