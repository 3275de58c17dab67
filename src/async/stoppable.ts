/** Options of a call that can be stopped. Reading the signal may make it, which takes longer than some calls. */
export interface Stoppable {
  /** Stops the call once it is aborted. */
  readonly signal?: AbortSignal | undefined;
}
