/** In milliseconds. */
export interface Timeouts {
  /** For the head of a request to arrive. */
  headersMs: number;
  /** For a body to arrive; for NDJSON, the longest pause in either direction. */
  bodyMs: number;
  /** For an answer to a search, a query or a read. */
  answerMs: number;
  /** For a batch of records or a delete to be durable. */
  writeMs: number;
  /** For a caller to take more of a response. */
  sendMs: number;
  /** For the rest of a request to arrive once the server stops. */
  stopMs: number;
}

export const TIMEOUTS: Timeouts = {
  headersMs: 10_000,
  bodyMs: 60_000,
  answerMs: 30_000,
  writeMs: 600_000,
  sendMs: 30_000,
  stopMs: 5_000,
};
