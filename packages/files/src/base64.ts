/** A text that is not base64. */
export class InvalidBase64Error extends Error {
  override readonly name = 'InvalidBase64Error';
}

/** A multiple of 4, so that each piece can be decoded alone. A piece takes about a millisecond. */
const pieceLength = 512 * 1024;

/** Returns how many bytes a text in base64 has, if it is valid. */
export function decodedSize(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  return Math.max(0, Math.floor((base64.length * 3) / 4) - padding);
}

/**
 * Decodes a text in the standard base64 of RFC 4648, with its padding and nothing else in it, piece by piece.
 *
 * Errors: InvalidBase64Error.
 */
export function* decodeBase64(base64: string): Generator<Buffer> {
  if (base64.length % 4 !== 0) throw new InvalidBase64Error();
  for (let start = 0; start < base64.length; start += pieceLength) {
    const piece = base64.slice(start, start + pieceLength);
    const isLast = start + pieceLength >= base64.length;
    if (!/^[A-Za-z\d+/]*$/.test(isLast ? withoutPadding(piece) : piece)) throw new InvalidBase64Error();
    const bytes = Buffer.from(piece, 'base64');
    // Bits that are left over in the last character must be 0, or several texts would stand for the same bytes.
    const ending = piece.slice(-4);
    if (isLast && Buffer.from(ending, 'base64').toString('base64') !== ending) throw new InvalidBase64Error();
    yield bytes;
  }
}

function withoutPadding(text: string): string {
  return text.endsWith('==') ? text.slice(0, -2) : text.endsWith('=') ? text.slice(0, -1) : text;
}
