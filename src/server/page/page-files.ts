import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { packageFile } from '../../platform/package.js';
import { type TaggedBody, tagged } from '../http/etag.js';
import { HTML_TYPE } from '../http/send-json.js';

/** The sources of the page, and the modules that the build makes for it. */
const DIRECTORIES = ['web', 'dist/page'].map(packageFile);
const INDEX = 'index.html';
/** What the page at `/docs` contains. */
const DOCS = 'docs/';
/** The style sheets are sent as one, because nothing is painted before the last of them arrives. */
const STYLES = /^style\/.*\.css$/;
const STYLE = 'style.css';
/** Where the index lists the modules, so that a browser requests all of them at once. */
const MODULES = '<!-- modules -->';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
};

export interface PageFiles {
  /** A hash of all files. The paths of the files contain it, so that browsers can keep them forever. */
  version: string;
  index: TaggedBody;
  /** By path relative to the directory of the page. */
  files: ReadonlyMap<string, TaggedBody>;
}

export function readPageFiles(): PageFiles {
  const texts = new Map<string, string>();
  for (const directory of DIRECTORIES) {
    for (const entry of readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort()) {
      const name = entry.replaceAll(path.sep, '/');
      if (TYPES[path.extname(name)] === undefined && name !== INDEX) continue;
      if (name.startsWith(DOCS)) continue;
      texts.set(name, readFileSync(path.join(directory, entry), 'utf8'));
    }
  }
  // In the order of their names: `base.css` is the first.
  const styles = [...texts.keys()].filter((name) => STYLES.test(name));
  texts.set(STYLE, styles.map((name) => texts.get(name)).join('\n'));
  for (const name of styles) texts.delete(name);
  const hash = createHash('sha256');
  for (const [name, text] of texts) hash.update(`${name}\0${text}\0`);
  const version = hash.digest('base64url').slice(0, 16);
  const files = new Map<string, TaggedBody>();
  for (const [name, text] of texts) {
    const type = TYPES[path.extname(name)];
    if (type !== undefined) files.set(name, tagged(text, type));
  }
  return { version, index: tagged(indexOf(texts, version), HTML_TYPE), files };
}

/** The index with the paths of the files of this version. */
function indexOf(texts: ReadonlyMap<string, string>, version: string): string {
  const modules = [...texts.keys()]
    .filter((name) => name.endsWith('.js') && !name.startsWith('lazy/'))
    .map((name) => `<link rel="modulepreload" href="page/${name}">`);
  return (texts.get(INDEX) ?? '')
    .replace(MODULES, modules.join('\n'))
    .replaceAll('="page/', `="page/${version}/`);
}
