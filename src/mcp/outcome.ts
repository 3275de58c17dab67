import { randomBytes } from 'node:crypto';
import { IS_DATA } from '../agents/search-tool.js';

/** What a tool found. */
export interface Outcome {
  /** What is to be known about it, beginning with what was found. It has no text of records. */
  notes: string[];
  /** The members of `structuredContent` besides `notes`; those named `data` have what others have stored. */
  members: Record<string, unknown>;
  /** The values of the lines between the marks: what others have stored. */
  data: readonly unknown[];
}

/**
 * Returns the result of a call. The text shows the data a line each, between marks that nobody can know when he stores a
 * record. JSON has no line breaks inside of values, so a value cannot end its line.
 */
export function resultOf({ notes, members, data }: Outcome) {
  const mark = `data-${randomBytes(8).toString('hex')}`;
  const lines = data.map((value) => JSON.stringify(value));
  const text =
    lines.length === 0
      ? notes
      : [...notes, `What is between the marks ${IS_DATA}`, `<${mark}>`, ...lines, `</${mark}>`];
  const structuredNotes = lines.length === 0 ? notes : [...notes, `The rest of this object ${IS_DATA}`];
  return {
    content: [{ type: 'text' as const, text: text.join('\n') }],
    structuredContent: { notes: structuredNotes, ...members },
  };
}
