import { expect, test } from 'vitest';
import { childTrace, continueTrace, renderTraceparent } from './trace.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';

test('continues the trace of a caller with a span of its own', () => {
  const trace = continueTrace(`00-${traceId}-00f067aa0ba902b7-00`);
  expect(trace.traceId).toBe(traceId);
  expect(trace.spanId).toMatch(/^[0-9a-f]{16}$/);
  expect(trace.spanId).not.toBe('00f067aa0ba902b7');
});

test.each([
  ['00', '00'],
  ['01', '01'],
  ['02', '00'],
  ['03', '01'],
  ['fe', '00'],
])(
  'where nothing is recorded, the flags %s of a caller become %s: only what they say of recording is kept',
  (flags, sent) => {
    const trace = continueTrace(`00-${traceId}-00f067aa0ba902b7-${flags}`);
    expect(renderTraceparent(trace)).toBe(`00-${traceId}-${trace.spanId}-${sent}`);
    expect(renderTraceparent(childTrace(trace))).toMatch(new RegExp(`-${sent}$`));
  },
);

test('a trace that begins here is not recorded unless the sampler says so, which also wins against the caller', () => {
  expect(renderTraceparent(continueTrace(undefined))).toMatch(/-00$/);
  for (const flags of ['00', '01']) {
    const trace = continueTrace(`00-${traceId}-00f067aa0ba902b7-${flags}`);
    expect(renderTraceparent(trace, { isSampled: () => true })).toMatch(/-01$/);
    expect(renderTraceparent(trace, { isSampled: () => false })).toMatch(/-00$/);
  }
});

test('a span knows the one that has caused it, and has a new id', () => {
  const first = continueTrace(undefined);
  const second = continueTrace(renderTraceparent(first));
  const third = childTrace(second);
  expect([first.parentSpanId, second.parentSpanId, third.parentSpanId]).toEqual([
    undefined,
    first.spanId,
    second.spanId,
  ]);
  expect(new Set([first.spanId, second.spanId, third.spanId]).size).toBe(3);
  expect(third.traceId).toBe(first.traceId);
});

test.each([
  undefined,
  '',
  'x',
  `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
  `00-${traceId}-${'0'.repeat(16)}-01`,
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
