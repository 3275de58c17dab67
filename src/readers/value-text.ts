/**
 * How a column of CSV writes its values, as the setting `formats` of a database names it; undefined: as JavaScript does.
 */
export type ValueFormat = string | undefined;

/** Writes a value in a format; undefined if the text would be that of another number. */
export function valueText(value: string | number | boolean, format: ValueFormat): string | undefined {
  if (format === undefined || typeof value === 'string') return String(value);
  if (typeof value === 'boolean') return booleanText(String(value), format);
  if (format === 'python') return pythonText(value);
  if (format === '.#') return withoutZero(String(value));
  const decimals = /^0?\.(0+)$/.exec(format)?.[1]?.length;
  if (decimals === undefined) return String(value);
  const text = fixedText(value, decimals);
  return text !== undefined && format.startsWith('.') ? withoutZero(text) : text;
}

/** A number with so many decimals; undefined if it has more. `toFixed` writes digits that the number does not have. */
function fixedText(value: number, decimals: number): string | undefined {
  const text = String(value);
  const [whole, fraction = ''] = text.split('.') as [string, string?];
  const fixed = text.includes('e') ? value.toFixed(decimals) : `${whole}.${fraction.padEnd(decimals, '0')}`;
  const isSame = fixed.length - fixed.indexOf('.') - 1 === decimals && Number(fixed) === value;
  return isSame && !fixed.includes('e') ? fixed : undefined;
}

/** The formats in which a text may be a number, those that more files have first. */
export function numberFormats(text: string): ValueFormat[] {
  const decimals = /\.(\d{1,15})$/.exec(text)?.[1];
  const fixed = `.${'0'.repeat(decimals?.length ?? 0)}`;
  const [withZero, without] = decimals === undefined ? [[], []] : [[`0${fixed}`], [fixed]];
  return [undefined, 'python', ...withZero, '.#', ...without];
}

export const BOOLEAN_FORMATS: readonly ValueFormat[] = [undefined, 'True', 'TRUE'];

function booleanText(text: string, format: string): string {
  if (format === 'TRUE') return text.toUpperCase();
  return format === 'True' ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}

/** The text of a float in Python: https://docs.python.org/3/library/functions.html#repr */
function pythonText(value: number): string {
  const [digits, exponent] = value.toExponential().split('e') as [string, string];
  const power = Number(exponent);
  if (power >= -4 && power < 16) return Number.isInteger(value) ? `${value}.0` : String(value);
  return `${digits}e${exponent.charAt(0)}${exponent.slice(1).padStart(2, '0')}`;
}

function withoutZero(text: string): string {
  if (text.startsWith('0.')) return text.slice(1);
  return text.startsWith('-0.') ? `-${text.slice(2)}` : text;
}
