import { invalidInput } from '@ticketing/errors/domain-error.ts';

/** Two open objects of 1 MiB, at the densest, are just below these: objects, lists and commas; and keys. */
const maxParts = 1_100_000;
const maxKeys = 400_000;

const [quote, backslash, comma, colon, bracket, brace] = [0x22, 0x5c, 0x2c, 0x3a, 0x5b, 0x7b];

/**
 * Refuses a JSON text that consists of more parts than any request needs, before it is parsed: 40 MiB of base64 are
 * cheap to read, 40 MiB of brackets hold up all other requests for seconds.
 *
 * Errors: too_complex.
 */
export function limitJsonStructure(body: Buffer): void {
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

/** Where the quote stands that ends the string; the end of the text, if none does. */
function endOfString(body: Buffer, start: number): number {
  for (let position = start + 1; ; position++) {
    position = body.indexOf(quote, position);
    if (position < 0) return body.length;
    let slashes = 0;
    while (body[position - 1 - slashes] === backslash) slashes++;
    if (slashes % 2 === 0) return position;
  }
}
