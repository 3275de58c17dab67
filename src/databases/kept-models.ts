import { readdirSync } from 'node:fs';
import path from 'node:path';
import { isDirectory, isModelName } from './models.js';

/** The directory of the models that a data directory keeps: those that `cosift model add` copied into it. */
export function keptModelsPath(data: string): string {
  return path.join(data, 'models');
}

export function keptModels(data: string): Record<string, string> {
  const parent = keptModelsPath(data);
  if (!isDirectory(parent)) return {};
  const names = readdirSync(parent).filter(
    (name) => isModelName(name) && isDirectory(path.join(parent, name)),
  );
  return Object.fromEntries(names.sort().map((name) => [name, path.join(parent, name)]));
}
