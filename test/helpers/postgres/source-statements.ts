import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from '@babel/parser';

/** A statement of SQL in the source. */
export interface SourceStatement {
  /** File and line. */
  place: string;
  /** Matches the statement as it is sent. */
  pattern: RegExp;
}

const BEGINS_STATEMENT = /^\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|SET)\s/;

/** The statements in the files of a directory of `src`, such as `store/postgres`. */
export function statementsOf(directory: string): SourceStatement[] {
  const root = fileURLToPath(new URL(`../../../src/${directory}/`, import.meta.url));
  return readdirSync(root)
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => statementsOfFile(name, readFileSync(root + name, 'utf8')));
}

function statementsOfFile(name: string, source: string): SourceStatement[] {
  const found: SourceStatement[] = [];
  const visit = (node: unknown) => {
    if (typeof node !== 'object' || node === null) return;
    const parts = partsOf(node as Node);
    if (parts !== undefined && BEGINS_STATEMENT.test(parts[0] as string)) {
      const pattern = parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('[\\s\\S]*');
      const { line } = (node as Node).loc.start;
      found.push({ place: `${name}:${line}`, pattern: new RegExp(`^${pattern}$`) });
    }
    for (const child of Object.values(node)) visit(child);
  };
  visit(parse(source, { sourceType: 'module', plugins: ['typescript'] }).program);
  return found;
}

interface Node {
  type: string;
  loc: { start: { line: number } };
  value?: unknown;
  quasis?: { value: { cooked: string } }[];
}

/** The fixed parts of a text; undefined for what is no text. */
function partsOf({ type, value, quasis }: Node): string[] | undefined {
  if (type === 'StringLiteral') return [value as string];
  return type === 'TemplateLiteral' ? quasis?.map((quasi) => quasi.value.cooked) : undefined;
}
