import type { CollectedSpan } from './otlp-collector.ts';

/** The spans from one to the first of its trace, as "service: name"; undefined while one of them has not arrived. */
export function pathTo(spans: readonly CollectedSpan[], span: CollectedSpan): string[] | undefined {
  const label = `${span.service}: ${span.name}`;
  if (span.parentSpanId === '') return [label];
  const parent = spans.find(({ traceId, spanId }) => traceId === span.traceId && spanId === span.parentSpanId);
  const before = parent && pathTo(spans, parent);
  return before && [...before, label];
}
