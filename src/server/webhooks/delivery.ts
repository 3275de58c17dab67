import type { AddressPolicy } from '../../config/index.js';
import type { DatabaseService } from '../../databases/index.js';

/** Milliseconds. */
export interface DeliveryTimes {
  /** The maximum wait for a response. */
  responseMs: number;
  /** The wait after the first failure; each further failure doubles it. */
  firstRetryMs: number;
  /** The maximum wait after a failure. */
  maxRetryMs: number;
}

export const DELIVERY_TIMES: DeliveryTimes = {
  responseMs: 10_000,
  firstRetryMs: 1_000,
  maxRetryMs: 600_000,
};

/** What every webhook of a service needs. */
export interface Delivery {
  databases: DatabaseService;
  times: DeliveryTimes;
  policy: AddressPolicy;
  /**
   * Returns whether the key with this id may still have webhooks of a database.
   *
   * @throws {CosiftError} when the keys cannot be read.
   */
  isAllowed: (keyId: string, database: string) => Promise<boolean>;
}
