/**
 * Compiles a function from code that names each property of the objects it handles: on the lists that this system returns
 * it is three times as fast as a loop over the names. The only place where code is made from text.
 *
 * `values` are what the code may use, under the names of their keys. The code must come from contracts and tables of ours,
 * with every name in it written by `JSON.stringify`; nothing of a request may become part of it.
 */
export function compileFunction<Compiled>(code: string, values: Readonly<Record<string, unknown>>): Compiled {
  return new Function(...Object.keys(values), `'use strict'; return ${code};`)(...Object.values(values));
}
