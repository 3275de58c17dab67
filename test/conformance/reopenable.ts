import { EmbeddingBackend } from '../../src/backend/embedding-backend.js';
import type { Backend } from '../../src/backend/index.js';
import { Models } from '../../src/backend/models.js';
import { LIMITS, type Limits } from '../../src/schema/index.js';
import type { RecordStore } from '../../src/store/record-store.js';
import type { OpenBackend, OpenedBackend } from './open-backend.js';

/** Opens a backend with `open`, and again for each `reopen`. `remove` removes what is left after the close. */
export async function reopenable(
  open: () => Promise<Backend>,
  remove: () => Promise<void> = async () => undefined,
): Promise<OpenedBackend> {
  const opened = {
    backend: await open(),
    async reopen() {
      await opened.backend.close();
      opened.backend = await open();
    },
    async close() {
      await opened.backend.close();
      await remove();
    },
  };
  return opened;
}

/** A store of its own: `open` opens it each time, and `remove` removes it. */
interface Place {
  open(limits: Limits): RecordStore;
  remove?(): Promise<void>;
}

/** Opens backends over stores that `makePlace` makes. */
export const openOver =
  (makePlace: () => Promise<Place>): OpenBackend =>
  async ({ limits = LIMITS, models = {} } = {}) => {
    const { open, remove } = await makePlace();
    const openBackend = async () => {
      const backend = new EmbeddingBackend(open(limits), new Models(models, 1), { limits, resume: true });
      await backend.ready;
      return backend;
    };
    return reopenable(openBackend, remove);
  };
