import { SETTINGS } from '../../src/config/index.js';
import { code, table } from './markdown.js';

/** The table of the server's settings other than limits. */
export function settings(): string {
  const rows = SETTINGS.filter(({ name }) => !name.startsWith('limits.')).map((setting) => {
    const { name, flag, env, help, parse, unit, default: fixed, defaultText = fixed } = setting;
    const meaning = setting.secret
      ? `${help}; has no flag, because other users can read command lines`
      : help;
    return [
      code(name),
      flag === undefined ? '' : code(flag),
      code(env),
      unit === undefined ? parse.allowed : `${parse.allowed}, in ${unit}`,
      setting.secret ? 'made at the first start' : shownDefault(defaultText),
      meaning,
    ];
  });
  return table(
    ['name in `cosift.json`', 'flag', 'environment variable', 'value', 'default', 'meaning'],
    rows,
  );
}

function shownDefault(value: string | number | boolean | undefined): string {
  if (value === undefined) return 'none';
  if (typeof value === 'boolean') return code(String(value));
  if (typeof value === 'number') return value < 10_000 ? String(value) : value.toLocaleString('en');
  return value.includes(' ') ? value : code(value);
}

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
