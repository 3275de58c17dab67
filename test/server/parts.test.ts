import { describe, expect, test } from 'vitest';
import { TokenBuckets } from '../../src/server/admission/token-bucket.js';
import { generateKey, keyIdOf } from '../../src/server/keys/key-format.js';
import { parseTime } from '../../src/server/keys/parse-time.js';

describe('times', () => {
  test.each([
    ['2026-01-02', '2026-01-02T00:00:00.000Z'],
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02T03:04:05.6789Z', '2026-01-02T03:04:05.678Z'],
    ['2026-01-02T03:04:05+02:30', '2026-01-02T00:34:05.000Z'],
    ['2026-01-01T00:30:00+01:00', '2025-12-31T23:30:00.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['0099-01-01', '0099-01-01T00:00:00.000Z'],
  ])('%s', (text, expected) => {
    expect(new Date(parseTime(text) ?? Number.NaN).toISOString()).toBe(expected);
  });

  test.each([
    '',
    'now',
    '2026-02-29',
    '2026-13-01',
    '2026-01-02T03:04:05',
    '2026-01-02T24:00:00Z',
    '2026-01-02T03:60:00Z',
    '2026-1-2',
    ' 2026-01-02',
    '2026-01-02T03:04:05+25:00',
  ])('not "%s"', (text) => {
    expect(parseTime(text)).toBeUndefined();
  });
});

describe('keys', () => {
  test('no two are alike, and each carries its id', () => {
    const made = Array.from({ length: 1000 }, generateKey);
    expect(new Set(made.map(({ key }) => key)).size).toBe(1000);
    for (const { key, keyId } of made) expect(keyIdOf(key)).toBe(keyId);
  });

  test('one wrong letter anywhere is noticed', () => {
    const { key } = generateKey();
    for (let i = 0; i < key.length; i++) {
      const letter = key[i] === 'x' ? 'y' : 'x';
      expect(keyIdOf(key.slice(0, i) + letter + key.slice(i + 1)), `letter ${i}`).toBeUndefined();
    }
  });
});

describe('a token bucket', () => {
  test('gives its quota at once, then one request an interval, to each key for itself', () => {
    const buckets = new TokenBuckets({ quota: 3, windowSeconds: 6 });
    const allowed = (key: string, now: number) => buckets.take(key, now).allowed;
    expect([0, 0, 0, 0].map((now) => allowed('a', now))).toEqual([true, true, true, false]);
    expect(allowed('b', 0)).toBe(true);
    expect(buckets.take('a', 500)).toMatchObject({ allowed: false, remaining: 0, retrySeconds: 2 });
    expect(allowed('a', 2000)).toBe(true);
    expect(allowed('a', 3000)).toBe(false);
    expect([20_000, 20_000, 20_000, 20_000].map((now) => allowed('a', now))).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });

  test('counts a request for the keys through which its key was issued, too', () => {
    const buckets = new TokenBuckets({ quota: 4, windowSeconds: 4 });
    const take = (path: string, now: number) => buckets.take(path, now);
    expect(take('a/b', 0)).toMatchObject({ allowed: true, quota: 3, remaining: 2 });
    expect([take('a/b', 0), take('a/b', 0), take('a/b', 0)].map(({ allowed }) => allowed)).toEqual([
      true,
      true,
      false,
    ]);
    // One is left to the issuer.
    expect(take('a/c', 0)).toMatchObject({ allowed: true, remaining: 0 });
    expect(take('a/d', 0)).toMatchObject({ allowed: false, retrySeconds: 1 });
    expect(take('a', 0).allowed).toBe(false);
    expect(take('e', 0).allowed).toBe(true);
    expect(take('a', 1_000).allowed).toBe(true);
  });

  test('tells when a batch passes that it refused, which costs nothing', () => {
    const buckets = new TokenBuckets({ quota: 20, windowSeconds: 60 });
    const send = (now: number, requests: number) => {
      const first = buckets.take('a', now);
      return first.allowed ? buckets.take('a', now, requests, 1) : first;
    };
    for (let at = 0; at < 3; at++) expect(buckets.take('a', 0).allowed).toBe(true);
    expect(send(0, 19)).toMatchObject({ allowed: false, remaining: 17, retrySeconds: 6 });
    expect(send(5_000, 19)).toMatchObject({ allowed: false, remaining: 18, retrySeconds: 1 });
    expect(send(6_000, 19)).toMatchObject({ allowed: true, remaining: 0 });
    // A batch of more than the quota takes a full bucket, and leaves it in debt.
    expect(send(9_000, 40)).toMatchObject({ allowed: false, remaining: 1, retrySeconds: 57 });
    expect(send(66_000, 40)).toMatchObject({ allowed: true, remaining: 0 });
    expect(buckets.take('a', 66_000)).toMatchObject({ allowed: false, retrySeconds: 63 });
  });

  test('lets a batch of any size through when its quota is one request', () => {
    const buckets = new TokenBuckets({ quota: 1, windowSeconds: 1 });
    expect(buckets.take('a', 0).allowed).toBe(true);
    expect(buckets.take('a', 0, 2, 1).allowed).toBe(true);
  });
});
