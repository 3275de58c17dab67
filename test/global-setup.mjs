// The command line, the worker threads and the import of "cosift" by its name run from dist: it must be that of src.
import { buildTypeScript } from '../scripts/setup.mjs';

export default buildTypeScript;
