/** The name of a column or table in SQL. */
export function quoted(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``;
}
