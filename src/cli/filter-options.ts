import { InvalidArgumentError, Option } from 'commander';
import { type Boost, parseBoost } from '../where/parse-boost.js';
import { parseWhere } from '../where/parse-where.js';
import { WhereError } from '../where/where-error.js';
import { printableLines } from './failure.js';

/** The option `--where` of a command that takes a filter. `purpose` says what the filter does there. */
export function whereOption(purpose: string): Option {
  return new Option(
    '--where <filter>',
    `${purpose}, such as "price < 3 and section = 'graphics'", or as JSON`,
  ).argParser((text) => parsed(parseWhere, text));
}

/** The option `--boost`, which may be repeated. */
export function boostOption(): Option {
  return new Option(
    '--boost <boost>',
    `part of the score that depends on data or times, such as "0.2 where country = 'France'", or ` +
      '"0.3 by year near 1900 within 50"; may be repeated',
  ).argParser((text: string, before: Boost[] = []) => [...before, parsed(parseBoost, text)]);
}

function parsed<T>(parse: (text: string) => T, text: string): T {
  try {
    return parse(text);
  } catch (error) {
    throw error instanceof WhereError ? new InvalidArgumentError(printableLines(error.message)) : error;
  }
}
