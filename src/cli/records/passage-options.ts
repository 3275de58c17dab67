import type { Command } from 'commander';
import { parseNumber } from '../option-values.js';

export interface PassageOptions {
  passages?: number | true;
  neighbours?: number;
}

export function withPassageOptions<C extends Command>(command: C): C {
  return command
    .option(
      '--passages [number]',
      'with --json, show which passage of a long record matches best, or so many of the best with their texts',
      parseNumber,
    )
    .option(
      '--neighbours <number>',
      'join so many passages before and after with each of --passages',
      parseNumber,
    );
}

/** The members of a request that its options ask for. */
export function passagesOf({ passages, neighbours }: PassageOptions): PassageOptions {
  return {
    ...(passages !== undefined && { passages }),
    ...(neighbours !== undefined && { neighbours }),
  };
}
