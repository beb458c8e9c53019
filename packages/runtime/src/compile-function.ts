/**
 * Compiles a function from code that names each property of the objects that it handles. On the lists that this system
 * returns, that is three times as fast as a loop over the names. Only this function makes code from text.
 *
 * The code can use `values` under their keys. It must be made from contracts and constants, with every name quoted by
 * `JSON.stringify`; no part of a request may become part of it.
 */
export function compileFunction<Compiled>(code: string, values: Readonly<Record<string, unknown>>): Compiled {
  return new Function(...Object.keys(values), `'use strict'; return ${code};`)(...Object.values(values));
}
