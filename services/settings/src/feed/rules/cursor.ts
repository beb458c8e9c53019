import { invalidInput } from '@ticketing/errors/domain-error.ts';

const version = 1;
const positionBytes = 6;

/** Returns the cursor after the event at a position of the feed; 0 is the beginning. */
export function eventCursor(position: number): string {
  const bytes = Buffer.alloc(1 + positionBytes, version);
  bytes.writeUIntBE(position, 1, positionBytes);
  return bytes.toString('base64url');
}

/** Returns the position in a cursor. `pointer` is where the request has it. Errors: invalid_cursor. */
export function parseCursor(cursor: string, pointer: string): number {
  const bytes = Buffer.from(cursor, 'base64url');
  const position = bytes.length === 1 + positionBytes ? bytes.readUIntBE(1, positionBytes) : 0;
  // Several texts of base64 decode to the same bytes; only the one that was given out is accepted.
  if (eventCursor(position) !== cursor) throw invalidCursor(pointer);
  return position;
}

/** Makes the error for a cursor that this feed has never given out. */
export function invalidCursor(pointer: string): Error {
  return invalidInput([{ pointer, code: 'invalid_cursor', detail: 'is not a cursor of this feed' }]);
}
