import { shellWord } from '../option-text.js';

/** A Parquet file that is not read. The message is for the user, and names the place and the remedy. */
export class ParquetError extends Error {}

/** What is wrong with the values of a column. The reader of the file adds the place. */
export class UnreadableColumn extends Error {}

/** The bytes are not what the format prescribes. */
export class DamagedParquet extends Error {}

/** Calls `read`, and reports whatever the bytes of a damaged file make it throw as a failure at `place`. */
export async function readingAt<T>(place: string, advice: string, read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    // A failure of the operating system, such as of a disk.
    if ((error as NodeJS.ErrnoException).syscall !== undefined) throw error;
    throw new ParquetError(`${place} ${whatIsWrong(error)}${advice}`, { cause: error });
  }
}

function whatIsWrong(error: unknown): string {
  if (error instanceof UnreadableColumn) return error.message;
  const detail = error instanceof DamagedParquet && error.message !== '' ? `: ${error.message}` : '';
  return `cannot be read, because the Parquet file is damaged${detail}`;
}

/** Names the option that leaves a column out. */
export function skipAdvice(column: string): string {
  return `; --skip-columns ${shellWord(column)} leaves the column out`;
}
