import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NO_SERVER, PostgresServer } from '../../scripts/postgres/server.js';
import { isCode } from '../../src/errors.js';
import { LIMITS } from '../../src/schema/index.js';
import { NodePostgres, PostgresStore } from '../../src/store/postgres/index.js';
import { StaleError } from '../../src/store/store-errors.js';
import { changedStatements } from '../helpers/postgres/around-statements.js';

const OLD = { model: 'old', fingerprint: 'of old', dimensions: 2 };
const NEW = { embed: {}, model: 'new', fingerprint: 'of new', dimensions: 2 };

describe.skipIf(NO_SERVER !== undefined)(
  `a switch of the model while another process writes${NO_SERVER ? ` (${NO_SERVER})` : ''}`,
  () => {
    let server: PostgresServer;
    let url: string;
    /** The process that does the re-embedding. */
    let switching: PostgresStore;
    /** The other process. */
    let writing: PostgresStore;
    /** Called whenever a commit of the other process looks whether it must still wait. */
    let onLook = () => {};

    beforeAll(async () => {
      server = await PostgresServer.start();
      url = await server.createDatabase();
      switching = new PostgresStore(new NodePostgres({ url, maxConnections: 4 }), LIMITS);
      const statements = changedStatements(new NodePostgres({ url, maxConnections: 4 }), () => (text) => {
        if (/^SELECT 1 FROM cosift\.databases\s+WHERE id = /.test(text)) onLook();
        return text;
      });
      writing = new PostgresStore(statements, LIMITS);
      await switching.load();
    });
    afterAll(async () => {
      await switching?.close();
      await writing?.close();
      await server?.stop();
    });

    const put = async (store: PostgresStore, id: string, record: number, signal?: AbortSignal) => {
      const body = Buffer.from(
        JSON.stringify({ records: [{ id: record, data: { text: `text ${record}` } }] }),
      );
      const prepared = await store.prepareBatch(id, body);
      const { fingerprint } = await store.describeDatabase(id);
      const vectors = new Float32Array(prepared.texts().flatMap(() => [1, 0]));
      await store.commit(id, prepared, { vectors, fingerprint: fingerprint as string }, signal);
    };
    /** Gives every record that has none its new vector. */
    const catchUp = async (id: string) => {
      await switching.reembedder.begin(id, NEW);
      for (let isLast = false; !isLast; ) {
        const batch = await switching.reembedder.prepare(id);
        const vectors = new Float32Array(batch.texts().flatMap(() => [0, 1]));
        await switching.reembedder.commit(id, batch, { vectors, fingerprint: NEW.fingerprint });
        isLast = batch.isLast;
      }
    };
    /** Lets a switch find the record of another process. */
    const findNewRecords = async (id: string) => {
      await switching.createDatabase(id, OLD);
      await put(switching, id, 1);
      await catchUp(id);
      await put(writing, id, 2);
      await expect(switching.reembedder.switch(id)).rejects.toBeInstanceOf(StaleError);
      // The hold must not pass before the test looks.
      const later = 'held_until = held_until + 3600000';
      await server.run(`UPDATE cosift.databases SET ${later} WHERE id = '${id}'`, 'test_1');
    };
    const looked = () =>
      new Promise<void>((resolve) => {
        onLook = resolve;
      });

    test('the switch ends, however much others write', async () => {
      const id = 'always-written';
      await switching.createDatabase(id, OLD);
      let written = 0;
      let onWritten = () => {};
      const isWritten = () =>
        new Promise<void>((resolve) => {
          onWritten = resolve;
        });
      let running = true;
      const writer = (async () => {
        while (running) {
          // The vectors of the other model no longer fit after the switch: the text is embedded again.
          await put(writing, id, written + 1).catch((error) => {
            // On a very slow machine, a commit may have waited too long.
            if (!(error instanceof StaleError || isCode(error, 'busy'))) throw error;
          });
          written += 1;
          onWritten();
        }
      })();
      try {
        await catchUp(id);
        // The first of these may have been written before the last batch was read, and the second was not.
        await isWritten();
        await isWritten();
        await expect(switching.reembedder.switch(id)).rejects.toBeInstanceOf(StaleError);
        // The commit that was in progress when the switch failed may end, and the next one waits.
        await looked();
        for (let isSwitched = false; !isSwitched; ) {
          await catchUp(id);
          // A hold may pass before, on a very slow machine.
          isSwitched = await switching.reembedder.switch(id).then(
            () => true,
            (error) => {
              if (!(error instanceof StaleError)) throw error;
              return false;
            },
          );
        }
        // Nobody waits any longer.
        const before = written;
        while (written < before + 2) await isWritten();
      } finally {
        running = false;
        await writer;
      }
      const { model, records } = await writing.describeDatabase(id);
      expect(model).toBe('new');
      expect(records).toBeGreaterThan(1);
    });

    test('a commit that waits ends with its signal, and writes nothing', async () => {
      await findNewRecords('left');
      const stop = new AbortController();
      const look = looked();
      const commit = expect(put(writing, 'left', 3, stop.signal)).rejects.toThrow('the caller left');
      await look;
      stop.abort(new Error('the caller left'));
      await commit;
      expect((await writing.describeDatabase('left')).records).toBe(2);
      // Those of the process that switches do not wait.
      await put(switching, 'left', 4);
      expect((await writing.describeDatabase('left')).records).toBe(3);
    });

    test('a process that ended before the switch keeps nobody waiting after its time', async () => {
      await findNewRecords('abandoned');
      const look = looked();
      const commit = put(writing, 'abandoned', 3);
      await look;
      const passed = 'held_until = 0';
      await server.run(`UPDATE cosift.databases SET ${passed} WHERE id = 'abandoned'`, 'test_1');
      await commit;
      await put(writing, 'abandoned', 4);
      expect((await writing.describeDatabase('abandoned')).records).toBe(4);
    });
  },
);
