import { CosiftError } from '../../errors.js';
import type { DoctorCheck } from '../../schema/index.js';
import type { Examination } from '../../store/record-store.js';
import type { Models } from '../models.js';

/**
 * The smallest cosine of a stored vector and the vector of the same text made now. On one CPU there is no difference: of
 * 200 texts, embedded in one batch and one by one with the built-in model, the smallest cosine was 1. The int8 kernels of
 * ONNX Runtime differ between CPUs, so a directory that came from another machine needs a tolerance. Its size is a
 * choice: 0.03 hides no vector of another text or model unless that is nearly the same.
 */
const MIN_COSINE = 0.97;

/** Checks the model of a database, and the vectors of a sample against their texts. */
export async function checkVectors(
  database: string,
  { settings, sample }: Examination,
  models: Models,
  signal: AbortSignal | undefined,
): Promise<DoctorCheck[]> {
  if (settings === null || settings.model === null) return [];
  const { model, fingerprint } = settings;
  if (!models.has(model)) {
    const detail = `not compared: the model "${model}" is not given; --models names its directory`;
    return [{ check: 'vectors', database, status: 'ok', detail }];
  }
  let embedder: Awaited<ReturnType<Models['embedder']>>;
  try {
    embedder = await models.embedder(model);
  } catch (error) {
    if (!(error instanceof CosiftError)) throw error;
    return [problem('model', database, error.detail, 'put the files of the model back')];
  }
  if (embedder.fingerprint !== fingerprint || embedder.dimensions !== settings.dimensions) {
    const detail = `the files of the model "${model}" are not those that made the vectors`;
    const advice =
      'put the files of the model back, or embed the database again under another name: cosift reembed';
    return [problem('model', database, detail, advice)];
  }
  const checks: DoctorCheck[] = [
    {
      check: 'model',
      database,
      status: 'ok',
      detail: `the files of "${model}" are those that made the vectors`,
    },
  ];
  const texts = sample.map(({ text }) => text);
  // A text that is too long for one vector has several, or one of its beginning only, which an earlier release made.
  const lines = (at: number) => [{ column: '', start: 0, end: texts[at]!.length }];
  const { tokens } = settings.embed?.passages ?? {};
  const split = { lines, passages: { perRecord: 0, tokens } };
  const embedded = await embedder.embedPassages(texts, { call: {}, waitForRoom: true, signal, split });
  const { vectors } = embedded;
  const tooLong = new Set(embedded.splits.filter((_, at) => at % 3 === 0));
  const { dimensions } = settings;
  const compared = sample.filter((_, at) => !tooLong.has(at));
  const ids = compared
    .filter(({ vector }, at) => {
      const again = vectors.subarray(at * dimensions, (at + 1) * dimensions);
      return cosine(vector, again) < MIN_COSINE;
    })
    .map(({ id }) => id);
  if (ids.length === 0) {
    const detail = `${compared.length} texts embedded again have their stored vectors`;
    checks.push({ check: 'vectors', database, status: 'ok', detail });
  } else {
    const detail = `${ids.length} of ${compared.length} texts embedded again have other vectors`;
    const advice = 'embed the database again, with cosift reembed, or import the records again';
    const found = problem('vectors', database, `${detail} (records ${ids.slice(0, 10).join(', ')})`, advice);
    checks.push({ ...found, problems: [{ detail, records: ids.length, ids: ids.slice(0, 10) }] });
  }
  return checks;
}

/**
 * The cosine of two vectors; 1 if one of them has only zeros. A text of which the model knows nothing has no vector, but an
 * earlier release stored one, and the names of columns in the text are known words.
 */
function cosine(left: readonly number[], right: Float32Array): number {
  let product = 0;
  let ofLeft = 0;
  let ofRight = 0;
  for (const [at, value] of left.entries()) {
    const other = right[at] ?? 0;
    product += value * other;
    ofLeft += value * value;
    ofRight += other * other;
  }
  return ofLeft === 0 || ofRight === 0 ? 1 : product / Math.sqrt(ofLeft * ofRight);
}

function problem(check: string, database: string, detail: string, advice: string): DoctorCheck {
  return { check, database, status: 'problem', detail, problems: [{ detail }], advice };
}
