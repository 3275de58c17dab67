import { OPERATIONS } from './table.js';

const PATHS = new Map<string, { pattern: RegExp; methods: string[] }>();
for (const { path, method } of Object.values(OPERATIONS)) {
  const pattern = new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]*')}$`);
  const entry = PATHS.get(path) ?? { pattern, methods: [] };
  entry.methods.push(...(method === 'GET' ? ['GET', 'HEAD'] : [method]));
  PATHS.set(path, entry);
}

/** The methods that the decoded `path` takes; none for an unknown path. As in the router, the template with the fewest parameters wins. */
export function allowedMethods(path: string): string[] {
  let best: { parameters: number; methods: string[] } | undefined;
  for (const [template, { pattern, methods }] of PATHS) {
    if (!pattern.test(path)) continue;
    const parameters = template.split('{').length - 1;
    if (best === undefined || parameters < best.parameters) best = { parameters, methods };
  }
  return best === undefined ? [] : [...best.methods, 'OPTIONS'];
}

/** Every method that some path takes. */
export function everyMethod(): string[] {
  return [...new Set([...PATHS.values()].flatMap(({ methods }) => methods))];
}
