import { afterEach } from 'vitest';
import { cleanUp } from './helpers/processes.js';

afterEach(cleanUp);
