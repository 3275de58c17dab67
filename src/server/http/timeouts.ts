/** Time limits of requests and connections. */
export interface Timeouts {
  /** For the head of a request to arrive. */
  headersMs: number;
  /** For a body to arrive; for NDJSON, the longest pause in either direction. */
  bodyMs: number;
  /** For a search, a query, a read or a deletion. */
  responseMs: number;
  /** For an upsert or a change of a database to be durable. */
  writeMs: number;
  /** For a client to read more of a response. */
  sendMs: number;
  /** Maximum pause between the events of a stream of events. */
  heartbeatMs: number;
  /** For a request with a hold of a sync to follow the last one. */
  holdMs: number;
  /** Once the server stops: for the rest of a request to arrive. */
  stopMs: number;
}

export const TIMEOUTS: Timeouts = {
  headersMs: 10_000,
  bodyMs: 60_000,
  responseMs: 30_000,
  writeMs: 600_000,
  sendMs: 30_000,
  heartbeatMs: 15_000,
  holdMs: 10_000,
  stopMs: 5_000,
};
