// Runs the tests of the Python packages against services of their own, on the oldest and the newest Python of this machine,
// and checks their types: node test/python/run.mjs [options of pytest]
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { install } from './environment.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const PACKAGES = ['python', 'python-langchain'];

const pythons = install();
if (pythons.length === 0) {
  console.log(
    'skipped: the Python packages cannot be installed here (they need Python 3.10 to 3.14 and PyPI)',
  );
  process.exit(process.env.CI === 'true' ? 1 : 0);
}
for (const name of PACKAGES) {
  const directory = path.join(root, 'packages', name);
  const run = (python, ...options) => {
    console.log(`\n== ${name}: ${path.relative(root, python)} ${options.slice(1).join(' ')}`);
    const { status } = spawnSync(python, options, {
      cwd: directory,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    if (status !== 0) process.exitCode = 1;
  };
  for (const python of pythons) run(python, '-m', 'pytest', ...process.argv.slice(2));
  const newest = pythons.at(-1);
  run(newest, '-m', 'mypy');
  run(newest, '-m', 'pyright', '--pythonpath', newest);
  checkWheel(newest, directory);
}

/** A wheel has the types, and nothing besides the package. */
function checkWheel(python, directory) {
  const output = mkdtempSync(path.join(tmpdir(), 'cosift-wheel-'));
  try {
    const options = ['--quiet', '--no-deps', '--no-build-isolation', '--wheel-dir', output];
    spawnSync(python, ['-m', 'pip', 'wheel', ...options, directory], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const [wheel = ''] = readdirSync(output);
    const list = ['-c', 'import sys, zipfile; print("\\n".join(zipfile.ZipFile(sys.argv[1]).namelist()))'];
    const { stdout } = spawnSync(python, [...list, path.join(output, wheel)], { encoding: 'utf8' });
    const names = stdout.trim().split('\n');
    const others = names.filter((name) => !/^(langchain_)?cosift(\/|-[\d.]+\.dist-info\/)/.test(name));
    if (names.some((name) => name.endsWith('/py.typed')) && others.length === 0) return;
    console.log(`the wheel ${wheel} lacks py.typed, or has more than the package: ${others.join(', ')}`);
    process.exitCode = 1;
  } finally {
    rmSync(output, { recursive: true, force: true });
  }
}
