import { ChosenColumns } from './chosen-columns.js';
import { openContent } from './content.js';
import { NotUtf8 } from './encoding/utf8.js';
import { detectFormat, detectLegacyEncoding, type OnRead } from './format.js';
import { Input, type InputOptions } from './input.js';
import { inspect } from './inspection.js';
import type { ReadRow } from './rows.js';
import type { Source } from './source.js';

/** Detects the format, and reads a file once to decide its types and identity. */
export async function openInput(source: Source, options: InputOptions, onProgress: OnRead): Promise<Input> {
  const chosen = new ChosenColumns(options);
  const isSkipped = (name: string) => chosen.isSkipped(name);
  const format = chosen.applyTo(await detectFormat(source, options, isSkipped, onProgress));
  const progress = (rows: number) =>
    onProgress(rows, format.total === undefined ? source.share() : rows / format.total);
  const observe = (rows: AsyncGenerator<ReadRow[]>) => inspect(format, rows, options.idColumn, progress);
  if (!format.isRepeatable) {
    const sample = format.sample?.();
    return new Input(source, options, format, sample && (await observe(sample)), chosen);
  }
  try {
    return new Input(source, options, format, await observe(format.rows()), chosen);
  } catch (error) {
    if (!(error instanceof NotUtf8) || options.encoding !== undefined) throw error;
    const encoding = await detectLegacyEncoding(await openContent(source));
    if (encoding === undefined) throw error;
    return openInput(source, { ...options, encoding }, onProgress);
  }
}
