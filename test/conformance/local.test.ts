import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openDatabases } from '../../src/databases/index.js';
import { describeContract } from './contract.js';
import type { OpenDatabases } from './open-databases.js';
import { reopenable } from './reopenable.js';

/** Opens the embedded engine in a temporary directory. */
const open: OpenDatabases = async (options = {}) => {
  const directory = await mkdtemp(path.join(tmpdir(), 'cosift-conformance-'));
  const openDirectory = () => openDatabases({ directory, embedWorkers: 1, ...options });
  return reopenable(openDirectory, () => rm(directory, { recursive: true, force: true }));
};

describeContract('the embedded engine', open);
