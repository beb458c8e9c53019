import { finished } from 'node:stream/promises';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { ByteCollector, CollectorLimitError, collectStream } from '@ticketing/runtime/byte-collector.ts';
import type { HeldBody } from '@ticketing/service-kit/admission/bodies-in-flight.ts';

/**
 * Reads the data of a mail up to its end, also if it is refused. Returns undefined if it has too many bytes.
 *
 * Errors, after the end of the data: invalid_mail, if it arrives in too many pieces; bodies_in_flight. The error of the
 * stream, if the client closes the connection.
 */
export async function readData(
  stream: NodeJS.ReadableStream,
  maxBytes: number,
  held: HeldBody,
): Promise<Buffer | undefined> {
  const collector = new ByteCollector({ maxBytes });
  try {
    return await collectStream(stream, collector, (piece) => {
      held.add(piece.length);
      collector.add(piece);
    });
  } catch (error) {
    collector.clear();
    held.release();
    await finished(stream);
    if (!(error instanceof CollectorLimitError)) throw error;
    if (error.limit === 'bytes') return undefined;
    // The sender would send the same pieces again.
    throw new DomainError('invalid_argument', 'invalid_mail', 'The mail arrives in too many pieces.');
  }
}
