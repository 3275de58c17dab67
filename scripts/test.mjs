// npm test: brings the checkout up to date, then runs every test.
//
//   node scripts/test.mjs          all of them
//   node scripts/test.mjs rust     cargo test of the workspace; further arguments go to it
//   node scripts/test.mjs node     vitest; further arguments go to it
import { checkNode, checkRust, setup, succeeds } from './setup.mjs';

const [which = 'all', ...rest] = process.argv.slice(2);
const failures = [];
checkNode();
if (which !== 'rust') setup();
if (which !== 'node') {
  checkRust();
  console.log('\ncosift: Rust tests');
  if (!succeeds('cargo test', 'cargo', ['test', '--workspace', ...rest])) failures.push('Rust');
}
if (which !== 'rust') {
  console.log('\ncosift: Node tests');
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', ...rest];
  if (!succeeds('vitest', process.execPath, vitest)) failures.push('Node');
}
if (failures.length > 0) {
  console.error(`\ncosift: failed: ${failures.join(' and ')} tests`);
  process.exitCode = 1;
}
