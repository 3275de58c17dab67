// node scripts/publish.mjs DIR: publishes the tarballs of npm run pack -- --all-platforms. Packages come after those that
// they depend on. A version that is already published is left as it is: model and onnxruntime rarely change.
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const [directory] = process.argv.slice(2);
const LAST = ['@cosift/onnxruntime', '@cosift/client', '@cosift/langchain', 'cosift'];

const packages = readdirSync(directory)
  .filter((name) => name.endsWith('.tgz'))
  .map((name) => {
    const file = join(directory, name);
    const manifest = execFileSync('tar', ['-xzOf', file, 'package/package.json'], { encoding: 'utf8' });
    return { file, ...JSON.parse(manifest) };
  })
  .sort((a, b) => LAST.indexOf(a.name) - LAST.indexOf(b.name));

for (const { file, name, version } of packages) {
  const published = spawnSync('npm', ['view', `${name}@${version}`, 'version'], { encoding: 'utf8' });
  if (published.stdout.trim() === version) {
    console.log(`${name} ${version} is already published`);
  } else {
    execFileSync('npm', ['publish', file], { stdio: 'inherit' });
  }
}
