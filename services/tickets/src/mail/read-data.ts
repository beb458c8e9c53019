import type { HeldBody } from '@ticketing/service-kit/server/bodies-in-flight.ts';

/**
 * Reads the data of a mail up to its end. Returns undefined if it has too many bytes, of which it keeps none.
 *
 * Errors: bodies_in_flight, after the end of the data; that of the stream, if the client closes the connection.
 */
export async function readData(
  stream: NodeJS.ReadableStream,
  maxBytes: number,
  held: HeldBody,
): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let problem: unknown;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    if (problem !== undefined || bytes > maxBytes) continue;
    bytes += chunk.length;
    try {
      held.add(chunk.length);
    } catch (error) {
      problem = error;
    }
    if (problem === undefined && bytes <= maxBytes) chunks.push(chunk);
    else {
      chunks.length = 0;
      held.release();
    }
  }
  if (problem !== undefined) throw problem;
  return bytes > maxBytes ? undefined : Buffer.concat(chunks);
}
