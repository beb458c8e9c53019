import { outboundGuard } from '@ticketing/outbound/outbound-guard.ts';
import { skipWaits } from '@ticketing/testkit/skip-waits.ts';
import { describe, expect, test, vi } from 'vitest';
import { failing, never, readReason, request, useModel } from '../../test/openai-harness.ts';
import { answering, completion, plainAnswer, type StubModel } from '../../test/stub-model.ts';
import { openaiDetection } from './openai.ts';

const used = useModel();

describe('a response', () => {
  test.each<[string, StubModel['respond'], string]>([
    [
      'that is no JSON',
      (_, response) => void response.setHeader('content-type', 'application/json').end('{'),
      'invalid_answer',
    ],
    [
      'that is a page',
      (_, response) => void response.setHeader('content-type', 'text/html').end('<p>Hi'),
      'invalid_answer',
    ],
    [
      'that is a stream of events',
      (_, response) =>
        void response.setHeader('content-type', 'text/event-stream').end('data: {"choices": []}\n\ndata: [DONE]\n\n'),
      'invalid_answer',
    ],
    ['without content', (_, response) => void response.writeHead(204).end(), 'invalid_answer'],
    ['400', failing(400), 'rejected'],
    ['401', failing(401), 'denied'],
    ['404', failing(404), 'denied'],
    ['that leads elsewhere', failing(307, { location: 'http://127.0.0.1:1/' }), 'denied'],
  ])('%s is no answer, and the question is not repeated', async (_, respond, reason) => {
    used.model.respond = respond;
    expect(await readReason(used.open()())).toBe(reason);
    expect(used.model.requests).toHaveLength(1);
  });

  test('of 1 MiB is read, and of one byte more is not', async () => {
    skipWaits();
    const text = JSON.stringify(completion(JSON.stringify(plainAnswer)));
    const sized = (bytes: number): StubModel['respond'] => {
      return (_, response) => void response.setHeader('content-type', 'application/json').end(text.padEnd(bytes));
    };
    used.model.respond = sized(1024 * 1024);
    expect(await readReason(used.open()())).toBe('none');
    used.model.respond = sized(1024 * 1024 + 1);
    expect(await readReason(used.open()())).toBe('unreachable');
  });

  // guarantee: I30
  test('that never ends is not read further', async () => {
    skipWaits();
    used.model.respond = (_, response) => {
      const write = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      };
      response.writeHead(200, { 'content-type': 'application/json' }).on('drain', write);
      write();
    };
    expect(await readReason(used.open()())).toBe('unreachable');
    await vi.waitFor(() => expect(used.model.open()).toBe(0), { timeout: 30_000 });
  });

  test.each([
    ['429', failing(429), 'rate_limited'],
    ['500', failing(500), 'server_error'],
    ['a connection that is cut', (_: unknown, response: { destroy(): void }) => response.destroy(), 'unreachable'],
    [
      'a body that is cut',
      (_: unknown, response: Parameters<StubModel['respond']>[1]) => {
        response.writeHead(200, { 'content-length': 100 }).write('{', () => response.destroy());
      },
      'unreachable',
    ],
    // guarantee: I30
  ] as [string, StubModel['respond'], string][])('%s is followed by two more attempts', async (_, respond, reason) => {
    const pauses = skipWaits();
    used.model.respond = respond;
    expect(await readReason(used.open()())).toBe(reason);
    expect(used.model.requests).toHaveLength(3);
    expect(pauses).toEqual([200, 400]);
  });

  test('that is an error is forgotten when the next attempt succeeds', async () => {
    skipWaits();
    used.model.respond = (...all) => (used.model.requests.length < 3 ? failing(503) : answering({}))(...all);
    expect((await used.open()()).languageCode).toBe('en');
  });

  test('with Retry-After is not followed by an attempt before, nor by any if there is no time for it', async () => {
    const pauses = skipWaits();
    used.model.respond = (...all) =>
      (used.model.requests.length < 2 ? failing(429, { 'retry-after': '7' }) : answering({}))(...all);
    expect(await readReason(used.open()())).toBe('none');
    expect(pauses).toEqual([7_000]);
    used.model.requests.length = 0;
    // At the end of the 20 seconds.
    used.model.respond = failing(429, { 'retry-after': new Date(used.now + 21_000).toUTCString() });
    expect(await readReason(used.open()())).toBe('rate_limited');
    expect(used.model.requests).toHaveLength(1);
  });

  test.each<[string, StubModel['respond']]>([
    ['that does not begin', () => {}],
    [
      'that does not end',
      (_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).write('{'),
    ],
    // guarantee: I30
  ])('%s is given up when the time is over', async (_, respond) => {
    used.model.respond = respond;
    expect(await readReason(used.open({ timeoutMs: 300 })())).toBe('timeout');
    await vi.waitFor(() => expect(used.model.open()).toBe(0), { timeout: 30_000 });
  });

  test('is not waited for when the caller has gone', async () => {
    const caller = new AbortController();
    used.model.respond = () => caller.abort(new Error('gone'));
    await expect(used.open()({}, caller.signal)).rejects.toThrow('gone');
    await vi.waitFor(() => expect(used.model.open()).toBe(0), { timeout: 30_000 });
    await expect(used.open()({}, caller.signal)).rejects.toThrow('gone');
  });
});

test('an address within a private network is not dialled unless it is allowed', async () => {
  skipWaits();
  const guard = outboundGuard({ allow: [], requireHttps: false });
  expect(await readReason(openaiDetection({ ...used.parts(), outbound: guard })(request, never))).toBe('unreachable');
  expect(used.model.requests).toHaveLength(0);
  await guard.close();
});
