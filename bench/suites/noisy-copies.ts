import { SEED } from '../data/dataset.js';
import { Random } from '../data/random.js';
import type { openJudged } from '../quality/judged-database.js';

type Packages = Awaited<ReturnType<typeof openJudged>>;

/** Half of the range of the noise. The noise of 384 values has a length of about 0.17. */
const NOISE = 0.015;
const BATCH = 1_000;

/**
 * Stores copies of all packages with a model's vectors. All copies but the first have other names, and their vectors are a
 * little different.
 */
export async function copyWithNoise(
  from: Packages,
  to: Packages,
  copies: number,
  say: (text: string) => void,
): Promise<void> {
  const { records } = await from.describe();
  const random = new Random(SEED);
  let batch: object[] = [];
  const write = async () => {
    await to.upsert(batch as never);
    batch = [];
  };
  for (let copy = 0; copy < copies; copy++) {
    say(`copies of the packages: ${copy * records} of ${copies * records} records stored`);
    for await (const { id, data, vector, embedded_by } of exported(from)) {
      batch.push({
        id: copy * records + id,
        data: copy === 0 ? data : { ...data, package: `${data.package}-${copy}` },
        vector: copy === 0 ? vector : vector.map((value) => value + (2 * random.unit() - 1) * NOISE),
        embedded_by,
      });
      if (batch.length === BATCH) await write();
    }
  }
  await write();
}

interface Line {
  readonly id: number;
  readonly data: { readonly package: string };
  readonly vector: readonly number[];
  readonly embedded_by: string;
}

async function* exported(packages: Packages): AsyncGenerator<Line> {
  // A chunk ends with a line.
  for await (const chunk of packages.exportLines({ vectors: true })) {
    for (const line of new TextDecoder().decode(chunk).trimEnd().split('\n')) yield JSON.parse(line) as Line;
  }
}
