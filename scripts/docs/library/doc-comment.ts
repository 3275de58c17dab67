/** A doc comment in parts. Texts are Markdown with `{@link …}`. */
export interface DocComment {
  /** Paragraphs. */
  text: string[];
  throws: string[];
  examples: string[];
  internal: boolean;
}

/** Parses the text between the slashes of a doc comment. */
export function parseDocComment(comment: string): DocComment {
  const lines = comment
    .replace(/^\*/, '')
    .split('\n')
    .map((line) => line.replace(/^\s*\*? ?/, '').trimEnd());
  const doc: DocComment = { text: [], throws: [], examples: [], internal: false };
  for (const part of lines
    .join('\n')
    .trim()
    .split(/^(?=@)/m)) {
    const [, tag, rest = ''] = /^@(\w+)\s*([\s\S]*)$/.exec(part) ?? [undefined, undefined, part];
    const text = rest.trim();
    if (tag === undefined) doc.text.push(...paragraphs(text));
    else if (tag === 'throws') doc.throws.push(oneLine(text.replace(/^\{\w+\}\s*/, '')));
    else if (tag === 'example') doc.examples.push(text.replace(/^```\w*\n|\n```$/g, ''));
    else if (tag === 'internal') doc.internal = true;
    else doc.text.push(...paragraphs(`${TAGS[tag] ?? fail(tag)} ${text}`));
  }
  return doc;
}

/** Tags that become the beginning of a paragraph. */
const TAGS: Record<string, string> = { default: 'Default:', see: 'See', deprecated: 'Deprecated:' };

function fail(tag: string): never {
  throw new Error(`the reference of the library does not show @${tag}`);
}

function paragraphs(text: string): string[] {
  return text
    .split(/\n\s*\n/)
    .map((paragraph) => (/^\s*([-*|]|\d+\.) /m.test(paragraph) ? paragraph.trim() : oneLine(paragraph)))
    .filter((paragraph) => paragraph !== '');
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
