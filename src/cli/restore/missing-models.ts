import { type ModelSources, Models } from '../../databases/index.js';
import type { ArchivedDatabase } from '../../store/archive/index.js';
import { describe } from '../failure.js';

/** Returns what to do about each model that restored databases need and that is missing or another one. */
export async function missingModels(
  databases: readonly ArchivedDatabase[],
  sources: ModelSources | undefined,
): Promise<string[]> {
  const models = new Models(sources, 1);
  const problems: string[] = [];
  try {
    for (const [model, used] of byModel(databases)) {
      const names = used.map(({ id }) => `"${id}"`).join(', ');
      if (!models.has(model)) {
        problems.push(
          `${names} needs model "${model}": add it with \`cosift model add\`, or give its directory or URL with --models`,
        );
        continue;
      }
      try {
        const { fingerprint } = await models.embedder(model);
        const others = used.filter((database) => database.fingerprint !== fingerprint);
        if (others.length === 0) continue;
        const ids = others.map(({ id }) => `"${id}"`).join(', ');
        problems.push(
          `${ids} was embedded with another version of model "${model}" than this machine has: ` +
            'use that version, or embed the records again with `cosift reembed`',
        );
      } catch (error) {
        problems.push(`${names} needs model "${model}", which cannot be loaded: ${describe(error)}`);
      }
    }
  } finally {
    await models.close();
  }
  return problems;
}

function byModel(databases: readonly ArchivedDatabase[]): Map<string, ArchivedDatabase[]> {
  const byModel = new Map<string, ArchivedDatabase[]>();
  for (const database of databases) {
    const { model } = database;
    if (model !== null) byModel.set(model, [...(byModel.get(model) ?? []), database]);
  }
  return byModel;
}
