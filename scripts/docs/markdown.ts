/** A table with one row per entry of `rows`. Cells are Markdown. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |`;
  return [line(header), `|${'---|'.repeat(header.length)}`, ...rows.map(line)].join('\n');
}

/** Text in one line of a table. A bar would end the cell, also inside code; outside of code, `<` would begin a tag. */
function cell(text: string): string {
  return text
    .replaceAll(/\s*\n\s*/g, ' ')
    .replaceAll(/(?<!\\)\|/g, '\\|')
    .replaceAll(/`[^`]*`|</g, (part) => (part === '<' ? '&lt;' : part));
}

export function code(text: string): string {
  return `\`${text}\``;
}

export function fence(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\``;
}

/** The anchor of a heading, as GitHub makes it. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
}

/** `text` in lines of at most `width` characters. Lists and code are left as they are. */
export function wrap(text: string, width = 120): string {
  const lines: string[] = [''];
  for (const word of text.split(/\s+/).filter((part) => part !== '')) {
    const last = lines.at(-1) as string;
    if (last !== '' && last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines.join('\n');
}

/** `text` with a capital letter and a full stop. */
export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`;
}
