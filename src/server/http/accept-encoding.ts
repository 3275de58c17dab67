/** The codings of responses. Of codings that a client accepts equally, the first is preferred. */
const CODINGS = ['br', 'gzip', 'identity'] as const;

export type Coding = (typeof CODINGS)[number];

const ENTRY = /^\s*([\w!#$%&'*+.^`|~/-]+)\s*(?:;\s*q=([01](?:\.\d{0,3})?)\s*)?$/i;

/** The weights of the entries of an `accept` or `accept-encoding` header (RFC 9110, section 12.4.2). */
export function weightsOf(header: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const entry of header.split(',')) {
    const [, name, weight = '1'] = ENTRY.exec(entry) ?? [];
    if (name !== undefined) weights.set(name.toLowerCase(), Number(weight));
  }
  return weights;
}

/**
 * Returns the codings that a client accepts, the preferred one first (RFC 9110, section 12.5.3). `header` is the value of
 * `accept-encoding`.
 */
export function acceptedCodings(header: string): Coding[] {
  const weights = weightsOf(header);
  // Without an entry for it, `identity` is accepted, but every listed coding is preferred.
  const weightOf = (coding: Coding) =>
    weights.get(coding) ?? weights.get('*') ?? (coding === 'identity' ? Number.MIN_VALUE : 0);
  return CODINGS.filter((coding) => weightOf(coding) > 0).sort((a, b) => weightOf(b) - weightOf(a));
}
