import { fileURLToPath } from 'node:url';
import { anchorOf, code, fence, sentence, table, wrap } from '../markdown.js';
import type { Declaration, Member } from './declaration.js';
import type { DocComment } from './doc-comment.js';
import { type Exports, exportsOf } from './exports.js';

const source = (path: string) => fileURLToPath(new URL(`../../../src/${path}`, import.meta.url));

/** The exports of `cosift`, `cosift/client` and `cosift/ai`. */
export const libraryExports = (): Exports => exportsOf(source('index.ts'));
export const clientExports = (): Exports => exportsOf(source('client/index.ts'));
export const aiExports = (): Exports => exportsOf(source('ai/index.ts'));

/** A chapter for each kind of export. */
export function library(): string {
  const exports = new Map([...libraryExports(), ...clientExports(), ...aiExports()]);
  return new LibraryPage(exports).text();
}

class LibraryPage {
  readonly #exports: Exports;

  constructor(exports: Exports) {
    this.#exports = exports;
  }

  text(): string {
    const ofAi = aiExports();
    const rest = new Set([...this.#exports.values()].filter(({ name }) => !ofAi.has(name)));
    const hasMethods = ({ members }: Declaration) => members.some(({ kind }) => kind === 'method');
    const groups: [title: string, of: (item: Declaration) => boolean][] = [
      ['Open a data directory', ({ name }) => name === 'open'],
      ['Use databases', (item) => item.kind === 'interface' && hasMethods(item)],
      ['Classes', ({ kind }) => kind === 'class'],
      ['Options', ({ name, members }) => members.length > 0 && /Options$/.test(name)],
      ['Make filters', ({ kind }) => kind === 'function' || kind === 'value'],
      ['Requests, results and other types', () => true],
    ];
    return groups
      .flatMap(([title, of]) => {
        const items = [...rest].filter(of);
        for (const item of items) rest.delete(item);
        return this.#group(title, items);
      })
      .concat(this.#group('Use the AI SDK', [...ofAi.values()]))
      .join('\n\n');
  }

  #group(title: string, items: readonly Declaration[]): string[] {
    if (items.length === 0) return [];
    const links = wrap(items.map(({ name }) => this.#link(name)).join(' · '));
    return [`## ${title}`, ...(items.length > 1 ? [links] : []), ...items.map((item) => this.#chapter(item))];
  }

  #chapter(item: Declaration): string {
    const { name, kind, signature, members, parents, doc } = item;
    const known = parents.filter((parent) => this.#exports.has(parent));
    const properties = members.filter(
      (member) => member.kind === 'property' && !this.#isInherited(item, member),
    );
    const methods = members.filter((member) => member.kind === 'method' && !this.#isInherited(item, member));
    const shown = members.length === 0 || (kind === 'interface' && signature.includes('<'));
    return [
      `### ${name}`,
      ...(shown ? [fence('ts', signature)] : []),
      ...this.#docs(doc, name),
      ...(known.length > 0
        ? [`Has all members of ${known.map((parent) => this.#link(parent)).join(' and ')}.`]
        : []),
      ...(properties.length > 0 ? [this.#table(properties, name)] : []),
      ...methods.map((method) => this.#method(method, name)),
    ].join('\n\n');
  }

  /** A member without a comment that a parent documents. */
  #isInherited({ parents }: Declaration, { name, doc }: Member): boolean {
    if (name === 'Symbol.asyncDispose') return true;
    return doc === undefined && parents.some((parent) => this.#memberOf(parent, name));
  }

  #memberOf(parent: string, name: string): Member | undefined {
    return this.#exports.get(parent)?.members.find((member) => member.name === name);
  }

  #method({ name, signature, doc }: Member, owner: string): string {
    const title = name === 'constructor' ? `new ${owner}` : `${owner}.${name}`;
    return [`#### ${title}`, fence('ts', dedented(signature)), ...this.#docs(doc, owner)].join('\n\n');
  }

  #table(properties: readonly Member[], owner: string): string {
    const rows = properties.map(({ name, optional, signature, doc }) => [
      code(optional ? `${name}?` : name),
      this.#type(
        signature
          .replaceAll(/\s+/g, ' ')
          .replace(optional ? / \| undefined$/ : /$^/, '')
          .replace(/^\((\(.*\) => \w+)\)$/, '$1'),
      ),
      this.#linked((doc?.text ?? []).join(' '), owner),
    ]);
    return table(['member', 'type', 'meaning'], rows);
  }

  /** The type of a property; a name that the page describes is a link. */
  #type(text: string): string {
    const name = /^(?:readonly )?(\w+)(?:<\w+>)?(?:\[\])?$/.exec(text)?.[1];
    return name !== undefined && this.#exports.has(name) ? `[${code(text)}](#${anchorOf(name)})` : code(text);
  }

  #docs(doc: DocComment | undefined, owner: string): string[] {
    if (doc === undefined) return [];
    return [
      ...doc.text.map((paragraph) => prose(this.#linked(paragraph, owner))),
      ...doc.throws.map((text) => prose(sentence(`Fails with ${this.#linked(text, owner)}`))),
      ...doc.examples.map((example) => fence('ts', example)),
    ];
  }

  /** `{@link NAME}` as a link, when the page has a heading for the name. */
  #linked(text: string, owner: string): string {
    return text
      .replaceAll(/\{@link ([^}|\s]+)\}/g, (_, name: string) => this.#link(name, owner))
      .replaceAll(/\bdocs\/reference\/([\w-]+\.md)/g, '[$1]($1)');
  }

  #link(name: string, owner?: string): string {
    const [first = '', member] = name.split('.');
    if (member !== undefined)
      return `[${code(name)}](#${anchorOf(this.#memberOf(first, member)?.kind === 'method' ? name : first)})`;
    if (this.#exports.has(name)) return `[${code(name)}](#${anchorOf(name)})`;
    if (owner !== undefined && this.#memberOf(owner, name)?.kind === 'method') {
      return `[${code(name)}](#${anchorOf(`${owner}.${name}`)})`;
    }
    return code(name);
  }
}

function prose(text: string): string {
  return text.includes('\n') ? text : wrap(text);
}

/** A signature whose further lines are indented as deep as the member in its source. */
function dedented(text: string): string {
  return text.replaceAll(/\n {2}/g, '\n');
}
