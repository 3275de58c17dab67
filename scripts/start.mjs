// npm start: brings the checkout up to date, then serves the demo database.
// Arguments go to the server: npm start -- --port 0
import { root, setup } from './setup.mjs';

setup();
process.chdir(root);
// In this process, not a child: signals reach the server directly.
process.argv.splice(2, 0, 'serve', '--demo');
await import('../dist/cli/main.js');
