import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { CARDS } from '../peers/registry.js';
import { directoryOf, RemotePeer } from '../peers/remote.js';
import { factsOf, type Suite } from './session.js';

/** Opens an existing database in a new process: time to the first result, memory, disk space. */
export const OPENING: Suite = {
  name: 'opening',
  about: 'time from opening to the first answer in a fresh process, memory then, size on disk',
  peers: true,
  async run(session) {
    for (const key of session.deep) {
      for (const card of CARDS) {
        if (
          card.maxRecords < key.records ||
          card.keeps !== true ||
          !(card.ours || session.systems.has(card.name))
        )
          continue;
        session.say(`opening: ${card.name}, ${key.records} records`);
        const builder = new RemotePeer(card, 1);
        const opener = new RemotePeer(card, 1);
        try {
          const { directory } = await builder.load(key);
          await builder.end();
          const { ms, firstAnswerMs } = await opener.call({ op: 'reopen', key, directory });
          const { residentBytes, beforeBytes } = await opener.call({ op: 'memory' });
          session.measurements.push({
            suite: 'opening',
            cell: 'fresh process',
            system: card.name,
            ...factsOf(key),
            values: {
              open_ms: ms,
              first_answer_ms: firstAnswerMs,
              memory_mb: (residentBytes - beforeBytes) / 1e6,
              memory_bytes_a_record: (residentBytes - beforeBytes) / key.records,
              disk_bytes_a_record: sizeOf(directoryOf(card, key)) / key.records,
            },
          });
        } catch (error) {
          session.failures.push(`opening, ${card.name} at ${key.records}: ${String(error).split('\n')[0]}`);
        }
        await builder.end();
        await opener.end();
      }
    }
  },
};

function sizeOf(directory: string): number {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
