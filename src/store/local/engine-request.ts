import type { Variant } from '../../schema/index.js';

/** The names of the variants in the engine. */
const VARIANTS = { uuid: 'a', integer: 'b' } as const satisfies Record<Variant, string>;

/** A request as the engine reads it. */
export function engineRequest<Request extends { variant: Variant }>(request: Request): string {
  return JSON.stringify({ ...request, variant: VARIANTS[request.variant] });
}
