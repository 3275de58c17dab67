// npm start: brings the checkout up to date, then serves the demo database.
// Arguments go to the server: npm start -- --port 0
import { root, setup } from './setup.mjs';

setup();
process.chdir(root);
// In this process, not a child: signals reach the server directly.
const { run } = await import('../dist/cli/index.js');
await run(['serve', '--demo', ...process.argv.slice(2)]);
