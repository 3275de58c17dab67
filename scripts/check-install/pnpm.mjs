// pnpm runs no install scripts, and lets a package import only what its manifest names.
import { join } from 'node:path';
import { check } from './checks.mjs';
import { checkUsage } from './usage.mjs';

export async function checkPnpm(project, npm) {
  await check('pnpm 10: pnpm add cosift', async () => {
    const tools = join(project.directory, '../pnpm-tool');
    await npm(['install', '--prefix', tools, 'pnpm@10'], {});
    const pnpm = join(tools, 'node_modules/pnpm/bin/pnpm.cjs');
    await project.node(pnpm, 'add', 'cosift', '--store-dir', join(tools, 'store'));
  });
  await checkUsage('pnpm 10', project);
}
