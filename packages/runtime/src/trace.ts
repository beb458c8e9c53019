import { randomBytes } from 'node:crypto';

/** The position of a request in a trace (W3C Trace Context). */
export interface Trace {
  traceId: string;
  spanId: string;
}

const pattern = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/;

/** Continues the trace of a `traceparent` header with a new span, or starts a trace if it is missing or malformed. */
export function continueTrace(traceparent: string | undefined): Trace {
  const traceId = traceparent === undefined ? undefined : pattern.exec(traceparent)?.[1];
  const isValid = traceId !== undefined && !/^0+$/.test(traceId);
  return { traceId: isValid ? traceId : randomHex(16), spanId: randomHex(8) };
}

/** The `traceparent` header for the calls that a request makes. */
export function traceparentOf(trace: Trace): string {
  return `00-${trace.traceId}-${trace.spanId}-01`;
}

// Random bytes are generated in blocks, because a call costs far more than the bytes themselves.
let block = Buffer.alloc(0);

function randomHex(bytes: number): string {
  if (block.length < bytes) block = randomBytes(4096);
  const hex = block.toString('hex', 0, bytes);
  block = block.subarray(bytes);
  return hex;
}
