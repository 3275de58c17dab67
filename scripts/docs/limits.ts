import { SETTINGS } from '../../src/config/index.js';
import { code, table } from './markdown.js';

/** The table of the limits that can be set. */
export function limits(): string {
  const prefix = 'limits.';
  const rows = SETTINGS.filter(({ name }) => name.startsWith(prefix)).map((setting) => [
    code(setting.name.slice(prefix.length)),
    code(setting.flag as string),
    code(setting.env),
    (setting.default as number).toLocaleString('en'),
    setting.help,
  ]);
  return table(['name', 'flag', 'environment variable', 'default', 'what is limited'], rows);
}
