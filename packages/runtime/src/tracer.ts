import type { Sampler, Trace } from './trace.ts';

/** A part of a trace that has ended: a request that was served or made, a message that was sent or handled. */
export interface EndedSpan {
  /** Its place in the trace. */
  trace: Trace;
  /** The operation, without anything that a client has sent: a route, an RPC, a command, a topic. */
  name: string;
  kind: 'server' | 'client' | 'producer' | 'consumer';
  /** How long it took. It ends when it is recorded. */
  durationMs: number;
  /** Why it has failed, as a code; undefined if it has not. */
  error?: string | undefined;
  attributes?: Readonly<Record<string, string | number>>;
  /** Spans of other traces that it belongs to as well. */
  links?: readonly Trace[];
}

/** Records the parts of traces in which a service takes part. A service without one traces nothing. */
export interface Tracer extends Sampler {
  /** Whether the spans of a trace are recorded: a share of all traces, the same ones in all services. */
  isSampled(trace: Trace): boolean;
  record(span: EndedSpan): void;
  /** Runs work as a part of a trace: `current` returns it meanwhile, also after each `await` of the work. */
  run<Result>(trace: Trace, work: () => Result): Result;
  /** Returns the trace of the work that is running. */
  current(): Trace | undefined;
  /** Sends the recorded spans, and stops. */
  close(): Promise<void>;
}
