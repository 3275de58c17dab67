import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { modelDirectories } from '../config/index.js';
import { CosiftError } from '../errors.js';
import { isLoopback } from '../loopback.js';
import type { Reembedder } from '../reembed.js';
import type { BatchResult, DatabaseSettings, LineEvent, PageB, SearchRequest } from '../schema/index.js';
import { API_KEY, isApiKey, isServiceUrl, SERVICE_URL } from '../schema/service-address.js';
import { HttpTarget } from './http-target.js';
import { LocalTarget } from './local-target.js';

/** Where a command works: a data directory of this machine, or a running server. */
export interface Target {
  /** Makes the database when it is missing. `settings` that differ from an existing one's are a failure. */
  ensureDatabase(id: string, settings: DatabaseSettings): Promise<void>;
  /** Stores a batch whole or not at all. */
  upsert(id: string, records: readonly object[]): Promise<BatchResult>;
  upsertLines(id: string, chunks: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncIterable<LineEvent>;
  search(id: string, request: SearchRequest): Promise<PageB>;
  reembedder(id: string): Reembedder;
  close(): Promise<void>;
}

export interface TargetOptions {
  data: string;
  url?: string;
  key?: string;
  models?: Record<string, string>;
}

/** A command with the options that choose its target. */
export function targetCommand(name: string): Command {
  return new Command(name)
    .addOption(
      new Option('--data <dir>', 'data directory to work on')
        .env('COSIFT_DATA')
        .default('./data')
        .argParser(checkDirectory),
    )
    .addOption(
      new Option('--url <url>', 'running server to work on, instead of a directory')
        .env('COSIFT_URL')
        .argParser(checkUrl),
    )
    .addOption(
      new Option(
        '--models <name=directory>',
        'model beside the built-in one, for a directory; may be repeated',
      )
        .env('COSIFT_MODELS')
        .argParser(addModels),
    )
    .addOption(
      new Option(
        '--key <key>',
        'API key for the server (default: <data>/admin.key, for a server on this machine)',
      ).env('COSIFT_KEY'),
    );
}

export async function openTarget(options: TargetOptions): Promise<Target> {
  if (options.url !== undefined) return new HttpTarget(options.url, apiKey(options));
  return LocalTarget.open(options.data, options.models);
}

/**
 * The key for a server: the given one, else the admin key of the data directory. That one is sent to this machine only:
 * any other could be somebody else's, and hears it even where the address was mistyped.
 */
export function apiKey(options: TargetOptions): string {
  const key = foundKey(options);
  // The key itself is not shown: it would get into logs.
  if (!isApiKey(key)) throw new CosiftError('unauthorized', `the API key is not a ${API_KEY}`);
  return key;
}

function foundKey({ key, data, url }: TargetOptions): string {
  if (key !== undefined) return key;
  const file = path.join(data, 'admin.key');
  const host = url === undefined ? undefined : new URL(url).hostname;
  if (host !== undefined && !isLoopback(host)) {
    throw new CosiftError(
      'unauthorized',
      `no API key for ${host}: give --key, or set COSIFT_KEY (${file} is only sent to this machine, such as 127.0.0.1)`,
    );
  }
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    throw new CosiftError(
      'unauthorized',
      `no API key: give --key, or set COSIFT_KEY (${file} cannot be read)`,
    );
  }
}

function addModels(text: string, before: Record<string, string> = {}): Record<string, string> {
  try {
    return { ...before, ...modelDirectories(text) };
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}

function checkDirectory(text: string): string {
  if (text === '') throw new InvalidArgumentError('must not be empty');
  return text;
}

function checkUrl(text: string): string {
  if (!isServiceUrl(text)) throw new InvalidArgumentError(`must be a ${SERVICE_URL}`);
  return text.replace(/\/+$/, '');
}

/** A database id is part of a path, so it is checked before anything is asked for. */
export function checkDatabase(text: string): string {
  if (!/^[a-z0-9_-]{1,64}$/.test(text)) {
    throw new InvalidArgumentError('a database id has 1 to 64 of a-z 0-9 _ -');
  }
  return text;
}
