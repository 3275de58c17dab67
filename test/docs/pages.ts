import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** A page of docs/reference. */
export class Page {
  readonly text: string;

  constructor(name: string) {
    this.text = readFileSync(`${root}docs/reference/${name}`, 'utf8');
  }

  /** The code in a column of the tables whose header begins with `header`. */
  column(header: string, at = 0): string[] {
    return tablesIn(this.text)
      .filter(([names]) => names?.join(' | ').startsWith(header))
      .flatMap(([, , ...rows]) => rows.flatMap((row) => codesIn(row[at] ?? '')));
  }

  /** The text below a heading of any level, to the next heading of that level or above. */
  chapter(heading: string): string {
    const lines = this.text.split('\n');
    const first = lines.findIndex((line) => /^#+ /.test(line) && line.replace(/^#+ /, '') === heading);
    if (first < 0) return '';
    const level = /^#+/.exec(lines[first] as string)?.[0].length ?? 0;
    const next = lines.findIndex((line, at) => at > first && new RegExp(`^#{1,${level}} `).test(line));
    return lines.slice(first + 1, next < 0 ? undefined : next).join('\n');
  }

  headings(level: number): string[] {
    return [...this.text.matchAll(new RegExp(`^#{${level}} (.*)$`, 'gm'))].map(([, name]) => name as string);
  }
}

/** The tables in a text: lines of cells. The second line is the one below the header. */
function tablesIn(text: string): string[][][] {
  return [...text.matchAll(/(?:^\|.*\n)+/gm)].map(([table]) =>
    table
      .trimEnd()
      .split('\n')
      .map((line) =>
        line
          .slice(1, -1)
          .split(/(?<!\\)\|/)
          .map((cell) => cell.trim()),
      ),
  );
}

/** The inline code in a text. */
export function codesIn(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, name]) => name as string);
}

/** Every page of the documentation with its path, the README included. */
export function allPages(): { path: string; text: string }[] {
  const pages = (readdirSync(`${root}docs`, { recursive: true }) as string[]).filter((name) =>
    name.endsWith('.md'),
  );
  return ['README.md', ...pages.map((name) => `docs/${name}`)].map((path) => ({
    path,
    text: readFileSync(root + path, 'utf8'),
  }));
}
