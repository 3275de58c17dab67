import iconv from 'iconv-lite';
import { expect, test } from 'vitest';
import { toUtf8 } from '../../src/readers/encoding/utf8.js';

const TEXT = 'id,name\n1,Zo\u00eb\n2,\u20ac \ud83d\ude00 \u65e5\u672c\n3,end';

async function* chunksOf(bytes: Uint8Array, ...cuts: number[]): AsyncGenerator<Uint8Array> {
  let start = 0;
  for (const cut of [...cuts, bytes.length]) {
    yield bytes.subarray(start, cut);
    start = cut;
  }
}

async function read(chunks: AsyncIterable<Uint8Array>, encoding: string): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of toUtf8(chunks, encoding)) parts.push(part.slice());
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(parts));
}

test.each([
  ['utf-8', TEXT],
  ['utf-8', `\ufeff${TEXT}`],
  ['UTF8', '\u00eb'],
  ['utf-8', ''],
  ['utf-16le', TEXT],
  ['utf-16le', `\ufeff${TEXT}`],
  ['latin1', 'Zo\u00eb \u00ff'],
  ['windows-1252', '\u20ac \u201cquoted\u201d'],
  ['shift_jis', '\u65e5\u672c'],
])('%s %j', async (encoding, text) => {
  const bytes = iconv.encode(text, encoding);
  const expected = text.replace(/^\ufeff/, '');
  expect(await read(chunksOf(bytes), encoding)).toBe(expected);
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    expect(await read(chunksOf(bytes, cut), encoding), `cut at ${cut}`).toBe(expected);
    expect(await read(chunksOf(bytes, cut, Math.min(bytes.length, cut + 1)), encoding)).toBe(expected);
  }
});

test.each([
  ['ab\ncd', [0xe9], 'ef\n', 'line 2, byte 3: 0xE9'],
  ['', [0xff, 0xfe], 'i\0', 'line 1, byte 1: 0xFF'],
  ['a\n\u20ac', [0xe2, 0x82], '\nx', 'line 2, byte 4: 0xE2'],
  ['a\n\u20ac', [0xe2, 0x82], '', 'line 2, byte 4: 0xE2'],
  ['a', [0xed, 0xa0, 0x80], 'b', 'line 1, byte 2: 0xED'],
  ['a', [0xc0, 0x80], 'b', 'line 1, byte 2: 0xC0'],
  ['a', [0x80], '', 'line 1, byte 2: 0x80'],
])('the first byte that is not UTF-8 is named: %j %j %j', async (before, bad, after, place) => {
  const bytes = Buffer.concat([Buffer.from(before), Uint8Array.from(bad), Buffer.from(after)]);
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    await expect(read(chunksOf(bytes, cut), 'utf-8'), `cut at ${cut}`).rejects.toThrow(place);
  }
});

test('bytes that a named encoding does not allow are refused with their line', async () => {
  const odd = Buffer.concat([Buffer.from('a\n\ud83d', 'utf16le'), Buffer.from('b', 'utf16le')]);
  await expect(read(chunksOf(odd), 'utf-16le')).rejects.toThrow('line 2: is not utf-16le');
  const unknown = Uint8Array.of(0x61, 0x0a, 0x0a, 0x81);
  await expect(read(chunksOf(unknown), 'windows-1252')).rejects.toThrow('line 3: is not windows-1252');
  await expect(read(chunksOf(unknown, 2, 3), 'windows-1252')).rejects.toThrow('line 3: is not windows-1252');
});
