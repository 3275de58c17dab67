// npm test: brings the checkout up to date, then runs every test.
//
//   node scripts/test.mjs          all of them
//   node scripts/test.mjs rust     cargo test of the workspace
//   node scripts/test.mjs node     vitest; further arguments go to it
import { checkNode, checkRust, run, setup } from './setup.mjs';

const [which = 'all', ...rest] = process.argv.slice(2);
checkNode();
if (which !== 'rust') setup();
if (which !== 'node') {
  checkRust();
  console.log('\ncosift: Rust tests');
  run('cargo test', 'cargo', ['test', '--workspace', ...rest]);
}
if (which !== 'rust') {
  console.log('\ncosift: Node tests');
  run('vitest', process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...rest]);
}
