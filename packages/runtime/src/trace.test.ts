import { expect, test } from 'vitest';
import { continueTrace, traceparentOf } from './trace.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';

test('continues the trace of a caller with a span of its own', () => {
  const trace = continueTrace(`00-${traceId}-00f067aa0ba902b7-00`);
  expect(trace.traceId).toBe(traceId);
  expect(trace.spanId).toMatch(/^[0-9a-f]{16}$/);
  expect(trace.spanId).not.toBe('00f067aa0ba902b7');
  expect(traceparentOf(trace)).toBe(`00-${traceId}-${trace.spanId}-01`);
});

test.each([
  undefined,
  '',
  'x',
  `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
  `ff-${traceId}-00f067aa0ba902b7-01`,
  `00-${traceId.toUpperCase()}-00f067aa0ba902b7-01`,
  `00-${traceId}-00f067aa0ba902b7-01\nx`,
])('starts a trace if the header is %j', (header) => {
  const trace = continueTrace(header);
  expect(trace.traceId).toMatch(/^[0-9a-f]{32}$/);
  expect([traceId, '0'.repeat(32)]).not.toContain(trace.traceId);
});

test('no two traces are the same', () => {
  const ids = Array.from({ length: 2000 }, () => continueTrace(undefined));
  expect(new Set(ids.map((trace) => trace.traceId)).size).toBe(2000);
  expect(new Set(ids.map((trace) => trace.spanId)).size).toBe(2000);
});
