import { invalidInput } from '@ticketing/errors/domain-error.ts';

/** Limits objects, arrays and commas together, and keys. */
const maxParts = 60_000;
const maxKeys = 25_000;

const [quote, backslash, comma, colon, bracket, brace] = [0x22, 0x5c, 0x2c, 0x3a, 0x5b, 0x7b];

/**
 * Refuses a JSON text with more parts than any request needs, before it is parsed. A body of 40 MiB of
 * base64 is parsed quickly, but parsing 40 MiB of brackets would block all other requests for seconds.
 *
 * Errors: too_complex.
 */
export function limitJsonStructure(body: Uint8Array): void {
  if (body.length < maxKeys) return;
  let [parts, keys] = [0, 0];
  for (let position = 0; position < body.length; position++) {
    const byte = body[position];
    if (byte === quote) position = endOfString(body, position);
    else if (byte === comma || byte === bracket || byte === brace) parts++;
    else if (byte === colon) keys++;
    if (parts > maxParts || keys > maxKeys) {
      const detail = `holds more than ${maxParts} values or ${maxKeys} keys`;
      throw invalidInput([{ pointer: '#', code: 'too_complex', detail }]);
    }
  }
}

/** After an escaped quote, this many bytes are read one by one: a search for each of many quotes would take 10 ns. */
const nearBytes = 64;

/** Returns the position of the quote that ends a string, or the end of the text if there is none. */
function endOfString(body: Uint8Array, start: number): number {
  let position = start + 1;
  for (let near = position; position < body.length; ) {
    if (position >= near) {
      const found = body.indexOf(quote, position);
      if (found < 0) return body.length;
      let runStart = found;
      while (runStart > position && body[runStart - 1] === backslash) runStart--;
      if ((found - runStart) % 2 === 0) return found;
      position = found + 1;
      near = position + nearBytes;
    } else if (body[position] === quote) {
      return position;
    } else if (body[position] === backslash) {
      if (body[position + 1] === quote) near = position + 2 + nearBytes;
      position += 2;
    } else {
      position++;
    }
  }
  return body.length;
}
