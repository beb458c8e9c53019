import { describe, expect, test, vi } from 'vitest';
import { UnreadableEventError } from './follow-events.ts';
import { ConnectionError, ProblemError } from './problem-error.ts';
import { createTicketingClient, type TicketingOptions } from './ticketing-client.ts';

const busy = (seconds: number) => () => problem(503, 'unavailable', { 'retry-after': String(seconds) });
const lost = () => {
  throw new TypeError('fetch failed');
};
const done = () => Response.json({ success: true });

function problem(status: number, code: string, headers: Record<string, string> = {}): Response {
  const body = {
    type: `urn:ticketing:problem:${code}`,
    title: 'Wrong',
    status,
    code,
    instance: '/',
    success: false,
    traceId: 't',
  };
  return Response.json(body, { status, headers });
}

/** A client whose requests get these responses, the last one for ever. */
function openClient(responses: (() => Response)[], options: Partial<TicketingOptions> = {}) {
  const sent: { method: string; url: string; headers: Headers; body: string | undefined }[] = [];
  const send: typeof fetch = async (url, init) => {
    sent.push({
      method: init?.method ?? '',
      url: String(url),
      headers: new Headers(init?.headers),
      body: init?.body as string,
    });
    return (responses[sent.length - 1] ?? responses.at(-1) ?? lost)();
  };
  const client = createTicketingClient({
    baseUrl: 'http://host',
    token: 'a-token',
    fetch: send,
    maxWaitMs: 5,
    ...options,
  });
  return { client, sent };
}

test('sends an operation as the contract says, and returns the body of its response', async () => {
  const { client, sent } = openClient([() => Response.json({ id: 1 })]);
  const ticket = await client.createTicket({ query: { process: 'false' }, body: { channel: 'email' } });
  expect(ticket.id).toBe(1);
  const [{ headers, ...rest } = {}] = sent;
  expect(rest).toEqual({
    method: 'POST',
    url: 'http://host/ticket?process=false',
    body: '{"channel":"email"}',
  });
  expect([headers?.get('authorization'), headers?.get('content-type')]).toEqual(['Bearer a-token', 'application/json']);
});

describe('repetition', () => {
  test('repeats a write with the same key, and asks for the token before each attempt', async () => {
    const token = vi.fn(async () => `token-${token.mock.calls.length}`);
    const { client, sent } = openClient([lost, busy(0), done], { token });
    await client.createTag({ body: { name: 'Power' } });
    const keys = sent.map(({ headers }) => headers.get('idempotency-key'));
    expect(keys).toEqual([keys[0], keys[0], keys[0]]);
    expect(keys[0]).toMatch(/^[\w-]{36}$/);
    expect(sent.map(({ headers }) => headers.get('authorization'))).toEqual([
      'Bearer token-1',
      'Bearer token-2',
      'Bearer token-3',
    ]);
  });

  test('uses the key of the caller, and another one for each call', async () => {
    const { client, sent } = openClient([done]);
    await client.createTag({ body: { name: 'Power' } }, { idempotencyKey: 'mine' });
    await client.createTag({ body: { name: 'Power' } });
    await client.createTag({ body: { name: 'Power' } });
    const keys = sent.map(({ headers }) => headers.get('idempotency-key'));
    expect(keys[0]).toBe('mine');
    expect(new Set(keys).size).toBe(3);
  });

  test('gives up after the last attempt, not before', async () => {
    for (const [failures, isDone] of [
      [3, true],
      [4, false],
    ] as const) {
      const { client, sent } = openClient([...Array.from({ length: failures }, () => busy(0)), done], {
        maxAttempts: 4,
      });
      const result = client.getTag({ path: { id: 1 } }).then(
        () => true,
        () => false,
      );
      expect(await result).toBe(isDone);
      expect(sent.length).toBe(4);
    }
  });

  test('does not wait longer than it may', async () => {
    const { client, sent } = openClient([busy(1), done], { maxWaitMs: 999 });
    await expect(client.listTags()).rejects.toThrow(ProblemError);
    expect(sent.length).toBe(1);
    const patient = openClient([busy(1), done], { maxWaitMs: 1000 });
    vi.useFakeTimers();
    try {
      const result = patient.client.listTags();
      await vi.advanceTimersByTimeAsync(999);
      expect(patient.sent.length).toBe(1);
      await vi.advanceTimersByTimeAsync(1);
      expect(await result).toEqual({ success: true });
    } finally {
      vi.useRealTimers();
    }
  });

  test('repeats a deletion only if nothing was done', async () => {
    for (const [response, attempts] of [
      [lost, 1],
      [busy(0), 1],
      [() => problem(429, 'rate_limited', { 'retry-after': '0' }), 2],
    ] as const) {
      const { client, sent } = openClient([response, done]);
      await client.deleteTag({ path: { id: 1 } }).catch(() => undefined);
      expect(sent.length).toBe(attempts);
    }
  });

  test('waits for an attempt of its own that is still running', async () => {
    const running = () => problem(409, 'idempotency_key_running', { 'retry-after': '0' });
    const { client, sent } = openClient([lost, running, done]);
    await client.createTag({ body: { name: 'Power' } });
    expect(sent.length).toBe(3);
  });

  test('does not repeat what will fail again', async () => {
    for (const status of [400, 401, 403, 404, 409, 412, 422, 500]) {
      const { client, sent } = openClient([() => problem(status, 'wrong'), done]);
      await expect(client.createTag({ body: { name: 'Power' } })).rejects.toMatchObject({ status, code: 'wrong' });
      expect(sent.length).toBe(1);
    }
  });

  test('ends when it is aborted, also while it waits', async () => {
    const { client, sent } = openClient([busy(20), done], { maxWaitMs: 60_000 });
    const abort = new AbortController();
    const call = client.listTags({}, { signal: abort.signal });
    await expect.poll(() => sent.length).toBe(1);
    abort.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    expect(sent.length).toBe(1);
  });
});

describe('errors', () => {
  test('have the code, the invalid parts and the trace id of the problem document', async () => {
    const errors = [{ pointer: '#/name', code: 'required', detail: 'is missing' }];
    const body = {
      type: 'x',
      title: 'Invalid',
      status: 400,
      code: 'invalid_input',
      instance: '/tag',
      success: false,
      traceId: 't1',
      errors,
    };
    const { client } = openClient([() => Response.json(body, { status: 400 })]);
    const error = await client.createTag({ body: { name: '' } }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ProblemError);
    expect(error).toMatchObject({ status: 400, code: 'invalid_input', errors, traceId: 't1', problem: body });
    expect(String(error)).toContain('#/name: is missing');
  });

  test('are named too if the response is no problem document', async () => {
    const { client } = openClient([() => new Response('<html>', { status: 502 })], { maxAttempts: 1 });
    await expect(client.listTags()).rejects.toMatchObject({ status: 502, code: 'unexpected_response', errors: [] });
  });

  test('are named too if a response of success is no JSON', async () => {
    const { client, sent } = openClient([() => new Response('<html>')]);
    await expect(client.listTags()).rejects.toMatchObject({ status: 200, code: 'unexpected_response' });
    expect(sent.length).toBe(1);
  });

  test('say that no response came, or not in time', async () => {
    const { client } = openClient([lost], { maxAttempts: 1 });
    await expect(client.listTags()).rejects.toThrow(ConnectionError);
    const hanging: typeof fetch = (_url, init) =>
      new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)));
    const slow = createTicketingClient({
      baseUrl: 'http://host',
      token: 't',
      fetch: hanging,
      timeoutMs: 5,
      maxAttempts: 1,
    });
    await expect(slow.listTags()).rejects.toThrow(/no response in 5 ms/);
  });
});

test('the time of a call ends when a file begins', async () => {
  const signals: (AbortSignal | null | undefined)[] = [];
  const send: typeof fetch = async (_url, init) => {
    signals.push(init?.signal);
    return new Response('content');
  };
  const client = createTicketingClient({ baseUrl: 'http://host', token: 't', fetch: send, timeoutMs: 5 });
  vi.useFakeTimers();
  try {
    const response = await client.getAttachment({ path: { ticketId: 1, attachmentId: 'a' } });
    await vi.advanceTimersByTimeAsync(10);
    expect(signals[0]?.aborted).toBe(false);
    expect(await response.text()).toBe('content');
  } finally {
    vi.useRealTimers();
  }
});

describe('followEvents', () => {
  const stream = (text: string) => () => new Response(text, { headers: { 'content-type': 'text/event-stream' } });
  const block = (version: number) => `id: c${version}\nevent: ticket.updated\ndata: {"version":${version}}\n\n`;

  test('continues after the last event when the stream ends or breaks', async () => {
    const { client, sent } = openClient([
      stream(`retry: 1000\nid: c0\n\n:\n\n${block(1)}`),
      lost,
      stream(block(2) + block(3)),
    ]);
    const abort = new AbortController();
    const versions: number[] = [];
    for await (const { cursor, event } of client.followEvents({
      after: 'c0',
      types: ['ticket.updated'],
      signal: abort.signal,
    })) {
      versions.push(event.version);
      if (cursor === 'c3') abort.abort();
    }
    expect(versions).toEqual([1, 2, 3]);
    expect(sent.map(({ headers }) => headers.get('last-event-id'))).toEqual(['c0', 'c1', 'c1']);
    expect(sent[0]?.url).toBe('http://host/event?types=ticket.updated');
    expect(sent[0]?.headers.get('accept')).toBe('text/event-stream');
  });

  test('yields nothing more after the signal was aborted, not even what has arrived with the last event', async () => {
    const { client, sent } = openClient([stream(`${block(1) + block(2)}id: c3\ndata: <html>\n\n`)]);
    const abort = new AbortController();
    const cursors: string[] = [];
    for await (const { cursor } of client.followEvents({ signal: abort.signal })) {
      cursors.push(cursor);
      abort.abort();
    }
    expect(cursors).toEqual(['c1']);
    expect(sent.length).toBe(1);
  });

  test('ends with what does not pass by itself', async () => {
    const { client } = openClient([() => problem(410, 'cursor_expired')]);
    const events = client.followEvents({ after: 'old', signal: new AbortController().signal });
    await expect(events.next()).rejects.toMatchObject({ code: 'cursor_expired' });
  });

  test('ends with a response that is no stream of events, and reads no more of it', async () => {
    const cancelled = vi.fn();
    for (const type of [undefined, 'text/html; charset=utf-8', 'application/json', 'text/event-stream-x']) {
      const page = () =>
        new Response(new ReadableStream({ cancel: cancelled }), { headers: type ? { 'content-type': type } : {} });
      const { client, sent } = openClient([stream(block(1)), page]);
      const events = client.followEvents({ signal: new AbortController().signal });
      await expect(events.next()).resolves.toMatchObject({ value: { cursor: 'c1' } });
      const error = await events.next().catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(ProblemError);
      expect(error).toMatchObject({ status: 200, code: 'unexpected_response' });
      expect(String(error)).toContain(type ?? 'no content type');
      expect(sent.length).toBe(2);
    }
    expect(cancelled).toHaveBeenCalledTimes(4);
  });

  test('reads a stream whose content type has parameters and capitals', async () => {
    const headers = { 'content-type': 'Text/Event-Stream; charset=utf-8' };
    const { client } = openClient([() => new Response(block(1), { headers })]);
    const events = client.followEvents({ signal: new AbortController().signal });
    await expect(events.next()).resolves.toMatchObject({ value: { cursor: 'c1' } });
    await events.return();
  });

  test('ends with an event that is not a JSON object, after those before it, and says how to continue after it', async () => {
    for (const data of ['<html>', '{"version":', '2', 'null', '[]']) {
      const { client, sent } = openClient([stream(`${block(1)}id: c2\ndata: ${data}\n\n${block(3)}`)]);
      const events = client.followEvents({ signal: new AbortController().signal });
      await expect(events.next()).resolves.toMatchObject({ value: { cursor: 'c1' } });
      const error = await events.next().catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(UnreadableEventError);
      expect(error).toMatchObject({ cursor: 'c2', data });
      expect(sent.length).toBe(1);
    }
  });

  test('takes a server for lost after 45 seconds of silence, but not while the reader works', async () => {
    const opened: { push(text: string): void; signal: AbortSignal }[] = [];
    const send: typeof fetch = async (_url, init) => {
      const signal = init?.signal ?? new AbortController().signal;
      const body = new ReadableStream<Uint8Array>({
        start(stream) {
          opened.push({ signal, push: (text) => stream.enqueue(new TextEncoder().encode(text)) });
          signal.addEventListener('abort', () => stream.error(signal.reason));
        },
      });
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    };
    const client = createTicketingClient({ baseUrl: 'http://host', token: 't', fetch: send });
    const stop = new AbortController();
    const events = client.followEvents({ signal: stop.signal });
    vi.useFakeTimers();
    try {
      const first = events.next();
      await vi.advanceTimersByTimeAsync(0);
      opened[0]?.push(block(1));
      await first;
      await vi.advanceTimersByTimeAsync(600_000);
      const second = events.next();
      await vi.advanceTimersByTimeAsync(44_999);
      expect([opened.length, opened[0]?.signal.aborted]).toEqual([1, false]);
      await vi.advanceTimersByTimeAsync(1);
      expect(opened[0]?.signal.aborted).toBe(true);
      await vi.advanceTimersByTimeAsync(60_000);
      expect(opened.length).toBeGreaterThan(1);
      opened.at(-1)?.push(block(2));
      await expect(second).resolves.toMatchObject({ value: { cursor: 'c2' } });
    } finally {
      stop.abort();
      vi.useRealTimers();
    }
  });
});
