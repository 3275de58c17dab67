import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import mysql from 'mysql2/promise';
import { endProcess, isRunning } from '../postgres/child-process.js';
import { freePort } from '../postgres/free-port.js';
import { makeDirectory, owner } from '../postgres/nobody.js';

/** Milliseconds in which a server must start. */
const START_MS = 60_000;
/** Milliseconds between two questions whether it has. */
const PAUSE_MS = 20;

/** Packages of Debian, unpacked. */
const ROOT = fileURLToPath(new URL('../../.mariadb/usr', import.meta.url));
const SERVER = path.join(ROOT, 'sbin/mariadbd');
/** Later versions have other names. */
const NAME = existsSync(path.join(ROOT, 'share/mariadb')) ? 'mariadb' : 'mysql';
const SHARE = path.join(ROOT, 'share', NAME);

/** Why the tests of a real server are skipped; undefined where one is installed. */
export const NO_MARIADB = reasonToSkip();

function reasonToSkip(): string | undefined {
  if (!existsSync(SERVER)) return 'no MariaDB: scripts/mariadb/install.sh';
  const { status } = spawnSync(SERVER, ['--no-defaults', '--version'], settings());
  return status === 0 ? undefined : 'MariaDB does not run here, or not as the user nobody';
}

/** A MariaDB server of its own. */
export class MariaDbServer {
  readonly #directory: string;
  readonly #port: number;
  readonly #options: readonly string[];
  #process: ChildProcess | undefined;
  #databases = 0;

  private constructor(directory: string, port: number, options: readonly string[]) {
    this.#directory = directory;
    this.#port = port;
    this.#options = options;
  }

  static async start(...options: string[]): Promise<MariaDbServer> {
    const server = new MariaDbServer(makeDirectory('cosift-mariadb-'), await freePort(), options);
    await server.#initialize();
    await server.restart();
    return server;
  }

  /** Makes the tables of the system, and a user without a password. */
  async #initialize(): Promise<void> {
    const files = ['system_tables', 'performance_tables', 'system_tables_data'];
    const input = [
      'CREATE DATABASE mysql;\nUSE mysql;\n',
      ...files.map((file) => readFileSync(path.join(SHARE, `${NAME}_${file}.sql`), 'utf8')),
      "FLUSH PRIVILEGES;\nCREATE USER cosift@'127.0.0.1';\nGRANT ALL ON *.* TO cosift@'127.0.0.1' WITH GRANT OPTION;\n",
    ].join('');
    this.#spawn('--bootstrap', '--skip-networking');
    const child = this.#process as ChildProcess;
    child.stdin?.end(input);
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new Error(`MariaDB was not initialized:\n${this.#log()}`);
  }

  /** Starts the server, also after {@link kill}. Resolves once it takes connections. */
  async restart(): Promise<void> {
    this.#spawn(`--port=${this.#port}`, '--bind-address=127.0.0.1', '--skip-name-resolve', ...this.#options);
    const deadline = performance.now() + START_MS;
    while (!(await this.#isReady())) {
      if (performance.now() > deadline || !isRunning(this.#process)) {
        await endProcess(this.#process, 'SIGKILL');
        throw new Error(`MariaDB did not start:\n${this.#log()}`);
      }
      await sleep(PAUSE_MS);
    }
  }

  /** Creates a database; returns its URL. */
  async createDatabase(): Promise<string> {
    this.#databases += 1;
    const name = `test_${this.#databases}`;
    await this.run(`CREATE DATABASE ${name} CHARACTER SET utf8mb4`);
    return this.urlOf(name);
  }

  urlOf(database: string, user = 'cosift'): string {
    return `mysql://${user}@127.0.0.1:${this.#port}/${database}`;
  }

  /** Runs statements. */
  async run(...statements: string[]): Promise<void> {
    const connection = await mysql.createConnection(this.urlOf('mysql'));
    try {
      for (const statement of statements) await connection.query(statement);
    } finally {
      await connection.end();
    }
  }

  /** Kills the server as a power failure would. */
  async kill(): Promise<void> {
    await endProcess(this.#process, 'SIGKILL');
  }

  async stop(): Promise<void> {
    await endProcess(this.#process, 'SIGKILL');
    rmSync(this.#directory, { recursive: true, force: true });
  }

  #spawn(...args: string[]): void {
    const output = openSync(path.join(this.#directory, 'log'), 'a');
    const fixed = [
      '--no-defaults',
      `--basedir=${ROOT}`,
      `--datadir=${this.#directory}`,
      // The user nobody cannot write to that of the tests.
      `--tmpdir=${this.#directory}`,
      `--lc-messages-dir=${SHARE}`,
      `--socket=${path.join(this.#directory, 'socket')}`,
      // What is committed is in files of the system, and waits for no disk.
      '--innodb-flush-log-at-trx-commit=2',
      '--innodb-flush-method=nosync',
      '--innodb-buffer-pool-size=64M',
    ];
    this.#process = spawn(SERVER, [...fixed, ...args], { ...settings(), stdio: ['pipe', output, output] });
    closeSync(output);
  }

  #log(): string {
    return readFileSync(path.join(this.#directory, 'log'), 'utf8').slice(-2_000);
  }

  async #isReady(): Promise<boolean> {
    return this.run('SELECT 1').then(
      () => true,
      () => false,
    );
  }
}

/** The user and the libraries that the server runs with. */
function settings() {
  const library = path.join(ROOT, 'lib');
  const paths = existsSync(library) ? readdirSync(library).map((name) => path.join(library, name)) : [];
  return { ...owner(), env: { ...process.env, LD_LIBRARY_PATH: paths.join(':') } };
}
