import { Models } from '../../src/databases/models.js';
import { DatabaseService } from '../../src/databases/service.js';
import { LIMITS, type Limits } from '../../src/schema/index.js';
import type { RecordStore } from '../../src/store/record-store.js';
import type { OpenDatabases, OpenedDatabases } from './open-databases.js';

/** Opens a service with `open`, and again for each `reopen`. `remove` removes what is left after the close. */
export async function reopenable(
  open: () => Promise<DatabaseService>,
  remove: () => Promise<void> = async () => undefined,
): Promise<OpenedDatabases> {
  const opened = {
    databases: await open(),
    async reopen() {
      await opened.databases.close();
      opened.databases = await open();
    },
    async close() {
      await opened.databases.close();
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

/** Opens services over stores that `makePlace` makes. `shortBecause` is that of {@link OpenDatabases}. */
export function openOver(makePlace: () => Promise<Place>, shortBecause?: string): OpenDatabases {
  const openOne: OpenDatabases = async ({ limits = LIMITS, models = {} } = {}) => {
    const { open, remove } = await makePlace();
    const openDatabases = async () => {
      const databases = new DatabaseService(open(limits), new Models(models, 1), { limits, resume: true });
      await databases.ready;
      return databases;
    };
    return reopenable(openDatabases, remove);
  };
  return Object.assign(openOne, { shortBecause });
}
