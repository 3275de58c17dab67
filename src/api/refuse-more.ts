import { CosiftError } from '../errors.js';

/**
 * Makes the methods of a class refuse more arguments than they declare: a program without types would not notice that
 * a signal in the wrong place has no effect. A method declares optional parameters without a default value, because its
 * `length` counts no others.
 */
export function refuseMore({ prototype }: { prototype: object }): void {
  for (const [name, { value: method, ...property }] of Object.entries(
    Object.getOwnPropertyDescriptors(prototype),
  )) {
    if (typeof method !== 'function' || name === 'constructor') continue;
    const isAsync = method.constructor.name === 'AsyncFunction';
    const refusing = {
      [name](this: unknown, ...given: unknown[]): unknown {
        if (given.length > method.length && given.slice(method.length).some((more) => more !== undefined)) {
          const error = tooMany(name, method.length, given.length);
          if (isAsync) return Promise.reject(error);
          throw error;
        }
        return method.apply(this, given);
      },
    };
    Object.defineProperty(prototype, name, { ...property, value: refusing[name] });
  }
}

function tooMany(name: string, max: number, count: number): CosiftError {
  const expected = max === 0 ? 'no arguments' : max === 1 ? 'at most 1 argument' : `at most ${max} arguments`;
  return new CosiftError('invalid_request', `${name} takes ${expected}, but ${count} were given`);
}
