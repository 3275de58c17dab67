import { readConfigFile, SYNC } from '../../config/config-file.js';
import { CosiftError } from '../../errors.js';
import type { ColumnType } from '../../readers/column-types.js';
import { columnNames } from '../../readers/option-text.js';
import { DEFAULT_EVERY } from '../../sync/duration.js';
import type { ConfiguredSync } from '../../sync/index.js';
import type { EmbedOptions } from '../embed-options.js';
import type { TargetOptions } from '../target.js';

/** Options that describe a source, or say where it is described. */
export interface SourceOptions {
  config?: string;
  database?: string;
  from?: string;
  table?: string;
  query?: string;
  columns?: string[];
  key?: string[];
  where?: string;
  stream?: string;
  types?: Record<string, ColumnType>;
  every?: string;
  maxDeletes?: number;
}

export interface SyncOptions
  extends Pick<TargetOptions, 'data' | 'store' | 'models' | 'url'>,
    SourceOptions,
    EmbedOptions {
  /** The options of the command line with which `confirm` finds the same source. */
  given: string;
  /** The key for the server. */
  apiKey?: string;
  once?: true;
  json?: true;
  deleteRecords?: true;
}

/** Options that describe a source. */
const DESCRIPTION = [
  'table',
  'query',
  'columns',
  'key',
  'where',
  'stream',
  'types',
  'every',
  'maxDeletes',
  'embed',
] as const;

/** Returns the source that the options describe, or the one of the name in the config file. */
export async function definitionOf(
  name: string | undefined,
  options: SyncOptions,
): Promise<Omit<ConfiguredSync, 'database'> & { database?: string }> {
  const { from, database } = options;
  if (from === undefined) return await configured(name, options);
  const { checkEmbed, millisecondsOf, TABLE_SOURCE } = await import('../../sync/index.js');
  const [problem] = TABLE_SOURCE.from(from, '');
  // The error does not show the value, which may have a password.
  if (problem !== undefined) throw invalid(`--from: ${problem.detail}`);
  const { table, query, where, stream, types, key, every = DEFAULT_EVERY, maxDeletes } = options;
  const [badStream] = stream === undefined ? [] : TABLE_SOURCE.stream(stream, '');
  if (badStream !== undefined) throw invalid(`--stream: ${badStream.detail}`);
  const columns = columnNames(options.columns ?? []).filter((column) => column !== '');
  const embed = options.embed && columnNames(options.embed);
  try {
    checkEmbed(embed, columns, '--embed');
  } catch (error) {
    throw invalid((error as Error).message);
  }
  return {
    name: name ?? database ?? 'check',
    ...(database !== undefined && { database }),
    source: {
      from,
      table,
      query,
      where,
      stream,
      types,
      columns,
      key: key && columnNames(key),
    },
    embed,
    everyMs: millisecondsOf(every),
    maxDeletes,
  };
}

async function configured(name: string | undefined, options: SyncOptions): Promise<ConfiguredSync> {
  const given = DESCRIPTION.find((option) => options[option] !== undefined);
  if (given !== undefined) throw invalid(`${optionName(given)} needs --from`);
  const syncs = await configuredIn(options);
  const [only] = syncs;
  const found = name === undefined && syncs.length === 1 ? only : syncs.find((sync) => sync.name === name);
  if (found !== undefined) return found;
  const names = syncs.map((sync) => sync.name).join(', ');
  throw invalid(
    syncs.length === 0
      ? 'describe the source by --from and further options, or in the member sync of a config file'
      : `${name === undefined ? 'name a source of the config file' : `the config file has no source ${name}`}: ${names}`,
  );
}

function optionName(name: string): string {
  return `--${name === 'maxDeletes' ? 'max-deletes' : name}`;
}

/** Returns the sources of the config file. */
export async function configuredIn({ config }: SourceOptions): Promise<ConfiguredSync[]> {
  const { configuredSyncs } = await import('../../sync/index.js');
  const file = readConfigFile(config ?? process.env.COSIFT_CONFIG);
  try {
    return configuredSyncs(file.values.get(SYNC));
  } catch (error) {
    throw invalid(`${file.path}: ${(error as Error).message}`);
  }
}

export function invalid(detail: string): CosiftError {
  return new CosiftError('invalid_request', detail);
}
