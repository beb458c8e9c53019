import { randomBytes } from 'node:crypto';

/** The position of a request in a trace (W3C Trace Context). */
export interface Trace {
  traceId: string;
  spanId: string;
  /** The span that has caused this one; undefined for the first one of a trace. */
  parentSpanId?: string | undefined;
  /** Whether the caller has said that spans of this trace are recorded. False for a trace that begins here. */
  isSampled: boolean;
}

/** Decides which traces are recorded. */
export interface Sampler {
  isSampled(trace: Trace): boolean;
}

const pattern = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;
const sampledFlag = 1;

/** Continues the trace of a `traceparent` header with a new span, or starts a trace if it is missing or malformed. */
export function continueTrace(traceparent: string | undefined): Trace {
  const [, traceId, parentSpanId, flags = ''] = (traceparent !== undefined && pattern.exec(traceparent)) || [];
  if (traceId === undefined) {
    return { traceId: randomHex(16), spanId: randomHex(8), parentSpanId: undefined, isSampled: false };
  }
  const isSampled = (Number.parseInt(flags, 16) & sampledFlag) !== 0;
  return { traceId, spanId: randomHex(8), parentSpanId, isSampled };
}

/** Returns a new span of the same trace, which a span has caused. */
export function childTrace({ traceId, spanId, isSampled }: Trace): Trace {
  return { traceId, spanId: randomHex(8), parentSpanId: spanId, isSampled };
}

/**
 * Returns the `traceparent` header of the calls and messages that a request causes. Its flag is the decision of `sampler`;
 * where nothing is recorded, the flag of the caller.
 */
export function renderTraceparent(trace: Trace, sampler?: Sampler): string {
  const isSampled = sampler ? sampler.isSampled(trace) : trace.isSampled;
  return `00-${trace.traceId}-${trace.spanId}-${isSampled ? '01' : '00'}`;
}

// Random bytes are generated in blocks, because a call costs far more than the bytes themselves.
let block = Buffer.alloc(0);

function randomHex(bytes: number): string {
  if (block.length < bytes) block = randomBytes(4096);
  const hex = block.toString('hex', 0, bytes);
  block = block.subarray(bytes);
  return hex;
}
