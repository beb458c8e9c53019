import type { IncomingHttpHeaders } from 'node:http';
import { Transform } from 'node:stream';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { bodiesInFlightReason } from '@ticketing/rest/limits/body-headers.ts';
import { byteBudget } from '@ticketing/runtime/byte-budget.ts';
import type { FastifyReply } from 'fastify';
import { clientGone } from '../call/call.ts';

/** The bodies of requests that a process holds until their responses have ended. */
export interface BodiesInFlight {
  /** Begins to count a body of a caller, which has announced its length or not. */
  hold(caller: string, announced?: number): HeldBody;
}

/** The bytes of a body that are held. */
export interface HeldBody {
  /** Counts bytes that have arrived, or that it takes up in addition. Errors: bodies_in_flight; canceled, if released. */
  add(bytes: number): void;
  release(): void;
}

/** Bytes up to which a body is not counted: as many small bodies as may be in flight take little memory. */
const freeBytes = 64 * 1024;
/** The share of these bytes that one caller may hold. */
export const callerShare = 0.5;

/** Bytes of a body above this count twice, because parsing the body and storing its content copy them. */
const uncopiedBytes = 8 * 1024 * 1024;
/**
 * When this much of a body has arrived, the copies of its announced length are counted. If they were counted as they
 * arrive, all of several large bodies would be received nearly whole, and then be refused.
 */
const arrivedBytes = 1024 * 1024;
/** The shares of these bytes that copies may take: the copies of all bodies together, and of one body. */
const copiedShare = 0.25;
const copiedShareOfBody = 0.2;

/** Makes the budget of a process. Units: `maxBytes` in bytes. */
export function bodiesInFlight(maxBytes: number): BodiesInFlight {
  const budget = byteBudget({ total: maxBytes, perKey: maxBytes * callerShare });
  const copies = byteBudget({ total: maxBytes * copiedShare, perKey: maxBytes * copiedShare });
  const copiedBytes = (bytes: number) => Math.min(Math.max(0, bytes - uncopiedBytes), maxBytes * copiedShareOfBody);
  return {
    hold(caller, announced = 0) {
      const share = budget.open(caller);
      const copied = copies.open(caller);
      let bytesOfBody = 0;
      const copiedAfter = (bytes: number) => copiedBytes(bytes < arrivedBytes ? bytes : Math.max(bytes, announced));
      let isReleased = false;
      return {
        add(bytes) {
          if (isReleased) throw clientGone();
          const copiedNow = copiedAfter(bytesOfBody + bytes) - copiedAfter(bytesOfBody);
          bytesOfBody += bytes;
          if (bytesOfBody <= freeBytes || bytes <= 0) return;
          if (!share.tryGrow(bytes) || !copied.tryGrow(copiedNow)) throw exhausted();
        },
        release() {
          isReleased = true;
          share.release();
          copied.release();
        },
      };
    },
  };
}

/** Whether a request announces a body, if any, that is not counted. */
export function isSmall(headers: IncomingHttpHeaders): boolean {
  const length = headers['content-length'];
  return length === undefined ? headers['transfer-encoding'] === undefined : Number(length) <= freeBytes;
}

/** Counts the bytes that pass through a body. The stream fails with bodies_in_flight when there are too many. */
export function countedBody(
  body: NodeJS.ReadableStream,
  { add }: HeldBody,
  { raw }: Pick<FastifyReply, 'raw'>,
): NodeJS.ReadableStream {
  const counter = byteCounter(body, (piece) => add(piece.length));
  // The rest of a refused body is read and discarded: a client that is still writing would not see the response otherwise.
  const discardRest = () => body.unpipe(counter).resume();
  counter.once('error', discardRest);
  raw.once('finish', discardRest);
  return body.pipe(counter);
}

/** Returns a stream through which a body is piped. `add` gets each piece; the stream fails with what it throws. */
export function byteCounter(body: NodeJS.ReadableStream, add: (piece: Buffer) => void): Transform {
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      try {
        add(chunk);
        done(null, chunk);
      } catch (error) {
        done(error as Error);
      }
    },
  });
  body.once('error', (error: Error) => counter.destroy(error));
  return counter;
}

function exhausted(): DomainError {
  const detail = 'The bodies of the requests in flight are larger than this process may hold.';
  return new DomainError('unavailable', bodiesInFlightReason, detail, { retryAfterSeconds: 1 });
}
