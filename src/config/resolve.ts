import path from 'node:path';
import { ConfigError, refuseUnknown } from './config-error.js';
import { type ConfigFile, readConfigFile, SYNC } from './config-file.js';
import { isObject } from './parsers.js';
import { type Config, camelCase, SETTINGS, type Setting } from './settings.js';

export type Origin = 'flag' | 'environment' | 'file' | 'default';

export interface ResolvedConfig {
  config: Config;
  /** Each setting, its value as text (secrets are hidden), and where the value came from. */
  settings: { name: string; value: string; origin: Origin; source: string }[];
  /** The member `sync` of the config file; undefined without one. */
  sync: unknown;
  /** One line for each environment variable that was ignored. */
  warnings: string[];
}

// Variables that commands other than `serve` read, or that name the config file.
const OTHER_ENV = ['COSIFT_CONFIG', 'COSIFT_URL', 'COSIFT_KEY', 'COSIFT_KERNEL'];

/**
 * Takes each setting from its flag, else its environment variable, else the config file, else its default.
 *
 * `flags` are keyed by long name in camel case, as commander gives them (`logLevel`). The flag `config` names the
 * config file, else `COSIFT_CONFIG` does; without either, `cosift.json` in the working directory is read if it exists.
 *
 * @throws {ConfigError} for a setting that is unknown or not valid.
 */
export function resolveConfig(
  flags: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string | undefined>>,
): ResolvedConfig {
  const named = Object.keys(env).filter((name) => name.startsWith('COSIFT_') && env[name] !== undefined);
  const injected = named.filter((name) => isKubernetesVariable(name, env[name] as string));
  refuseUnknown(
    named.filter((name) => !injected.includes(name)),
    [...SETTINGS.map((setting) => setting.env), ...OTHER_ENV],
    'environment variable',
  );
  const ownEnv = Object.fromEntries(Object.entries(env).filter(([name]) => !injected.includes(name)));
  const file = readConfigFile((flags.config as string | undefined) ?? env.COSIFT_CONFIG);
  const values = new Map<string, unknown>();
  const settings = SETTINGS.map((setting) => {
    const { given, origin, source } = findValue(setting, flags, ownEnv, file);
    let value: unknown;
    try {
      value = given === undefined ? undefined : setting.parse(given);
    } catch (error) {
      throw new ConfigError(`${source}: ${(error as Error).message}`);
    }
    values.set(setting.name, value);
    const shown = value === undefined ? '(not set)' : setting.secret ? '(hidden)' : textOf(value, setting);
    return { name: setting.name, value: shown, origin, source };
  });
  checkStoreSettings(settings);
  const warnings = injected.map(
    (name) =>
      `environment variable ${name} is ignored: Kubernetes sets it for a service of that name ` +
      '(enableServiceLinks: false in the pod keeps it out)',
  );
  return { config: configOf(values), settings, sync: file.values.get(SYNC), warnings };
}

/** Settings of scans in this process. */
const LOCAL = new Set(['threads', 'vector_memory_megabytes']);

function checkStoreSettings(settings: ResolvedConfig['settings']): void {
  const given = settings.filter(({ origin }) => origin !== 'default');
  const hasStore = given.some(({ name }) => name === 'store');
  const wrong = given.find(({ name }) => (hasStore ? LOCAL.has(name) : name.startsWith('store_')));
  if (wrong === undefined) return;
  const reason = hasStore
    ? 'a store scans in its own processes; give no threads or vector memory with a store'
    : 'there is no store; name one with --store or COSIFT_STORE';
  throw new ConfigError(`${wrong.source}: ${reason}`);
}

function textOf(value: unknown, { shown }: Setting): string {
  if (shown !== undefined) return shown(String(value));
  if (!isObject(value)) return String(value);
  return Object.entries(value)
    .map(([name, source]) => `${name}=${source}`)
    .join(',');
}

interface Found {
  given: unknown;
  origin: Origin;
  source: string;
}

function findValue(
  setting: Setting,
  flags: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string | undefined>>,
  file: ConfigFile,
): Found {
  const { flag } = setting;
  const given = flag === undefined ? undefined : flags[camelCase(flag.replace(/^--(no-)?/, ''))];
  // Commander sets the attribute of a negated flag that is absent to true.
  if (flag !== undefined && given !== undefined && !(setting.negated && given === true)) {
    return { given, origin: 'flag', source: flag };
  }
  if (env[setting.env] !== undefined) {
    return { given: env[setting.env], origin: 'environment', source: setting.env };
  }
  if (file.values.has(setting.name)) {
    return { given: file.values.get(setting.name), origin: 'file', source: `${file.path}: ${setting.name}` };
  }
  return { given: setting.default, origin: 'default', source: 'default' };
}

function configOf(values: ReadonlyMap<string, unknown>): Config {
  const of = (settings: readonly Setting[], nameOf: (name: string) => string) =>
    Object.fromEntries(settings.map(({ name, parse }) => [nameOf(name), values.get(name) ?? parse.absent]));
  const isLimit = ({ name }: Setting) => name.startsWith(LIMIT);
  const others = of(
    SETTINGS.filter((setting) => !isLimit(setting)),
    camelCase,
  );
  // Safe: the parser of each setting returns the type of its member.
  const config = {
    ...others,
    limits: of(SETTINGS.filter(isLimit), (name) => name.slice(LIMIT.length)),
  } as Config;
  return { ...config, data: path.resolve(config.data) };
}

const LIMIT = 'limits.';

const SERVICE_NAME =
  /^COSIFT_(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$/;
const SERVICE_PORT = /^COSIFT_(\w+_)?PORT$/;

/** Whether Kubernetes sets this environment variable in every pod for a service called `cosift` or `cosift-…`. */
function isKubernetesVariable(name: string, value: string): boolean {
  return SERVICE_NAME.test(name) || (SERVICE_PORT.test(name) && /^(tcp|udp|sctp):\/\//.test(value));
}
