import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLogger } from '@ticketing/runtime/logger.ts';
import { childTrace, continueTrace } from '@ticketing/runtime/trace.ts';
import { seededBytes } from '@ticketing/testkit/seed.ts';
import { expect, test } from 'vitest';
import { openOtlpTracer } from './otlp-tracer.ts';

function recordedLog() {
  const lines: string[] = [];
  const log = createLogger('test', 'info', { write: (line) => void lines.push(line) });
  return { lines, log };
}

/** Records spans of a hundred traces, and returns how many requests the collector gets until the tracer is closed. */
async function record(ratio: number): Promise<number> {
  let requests = 0;
  const collector = createServer((request, response) => {
    requests += 1;
    request.resume();
    response.end();
  });
  await once(collector.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(collector.address() as AddressInfo).port}/v1/traces`;
  const tracer = openOtlpTracer('tickets', { url, headers: {}, ratio, resource: {} }, recordedLog().log);
  for (let count = 0; count < 100; count++) {
    tracer.record({ trace: continueTrace(undefined), name: 'GET /ticket', kind: 'server', durationMs: 1 });
  }
  await tracer.close();
  collector.closeAllConnections();
  collector.close();
  return requests;
}

test('sends spans in one batch when it closes, and none of traces that are not sampled', async () => {
  expect([await record(1), await record(0)]).toEqual([1, 0]);
});

test('all spans of a trace are sampled, or none', () => {
  const config = { url: 'http://127.0.0.1:9/v1/traces', headers: {}, ratio: 0.5, resource: {} };
  const tracer = openOtlpTracer('tickets', config, recordedLog().log);
  const traces = Array.from({ length: 400 }, () =>
    continueTrace(`00-${seededBytes(16).toString('hex')}-${seededBytes(8).toString('hex')}-01`),
  );
  const sampled = traces.filter((trace) => tracer.isSampled(trace));
  expect(sampled.length).toBeGreaterThan(120);
  expect(sampled.length).toBeLessThan(280);
  for (const trace of traces) expect(tracer.isSampled(childTrace(trace))).toBe(tracer.isSampled(trace));
});

test('a collector that refuses is reported once, and delays nothing', async () => {
  const collector = createServer((request, response) => {
    request.resume();
    response.writeHead(400).end();
  });
  await once(collector.listen(0, '127.0.0.1'), 'listening');
  const { lines, log } = recordedLog();
  const url = `http://127.0.0.1:${(collector.address() as AddressInfo).port}/v1/traces`;
  const tracer = openOtlpTracer('tickets', { url, headers: {}, ratio: 1, resource: {} }, log);
  // More than one batch.
  for (let count = 0; count < 1_000; count++) {
    tracer.record({ trace: continueTrace(undefined), name: 'GET /ticket', kind: 'server', durationMs: 1 });
  }
  await tracer.close();
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual(['traces cannot be sent, and are dropped']);
  collector.closeAllConnections();
  collector.close();
});

test('a trace is the current one of the work that runs as a part of it, also after a pause', async () => {
  const config = { url: 'http://127.0.0.1:9/v1/traces', headers: {}, ratio: 1, resource: {} };
  const tracer = openOtlpTracer('tickets', config, recordedLog().log);
  const trace = continueTrace(undefined);
  const seen = await tracer.run(trace, async () => {
    await new Promise(setImmediate);
    return tracer.current();
  });
  expect([seen, tracer.current()]).toEqual([trace, undefined]);
});
