#!/usr/bin/env node
import { run } from './index.js';

await run(process.argv.slice(2));
