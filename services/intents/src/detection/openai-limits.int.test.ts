import { skipWaits } from '@ticketing/testkit/skip-waits.ts';
import { describe, expect, test, vi } from 'vitest';
import { failing, limits, readReason, useModel } from '../../test/openai-harness.ts';
import { answering, completion, type StubModel, sendJson } from '../../test/stub-model.ts';

const used = useModel();

describe('the limits', () => {
  // guarantee: I30
  test('let through so many requests in a minute, and not one more', async () => {
    const detect = used.open({ requestsPerMinute: 2 });
    expect([await readReason(detect()), await readReason(detect()), await readReason(detect())]).toEqual([
      'none',
      'none',
      'budget',
    ]);
    used.now += 59_999;
    expect(await readReason(detect())).toBe('budget');
    used.now += 1;
    expect(await readReason(detect())).toBe('none');
    expect(used.model.requests).toHaveLength(3);
  });

  test('count repeated questions, and the tokens that the endpoint has counted, also of answers that are not used', async () => {
    skipWaits();
    used.model.respond = failing(500);
    expect(await readReason(used.open({ requestsPerMinute: 2 })())).toBe('budget');
    expect(used.model.requests).toHaveLength(2);

    const detect = used.open({ tokensPerMinute: 50_000 });
    used.model.respond = (_, response) =>
      sendJson(response, completion('', { finish_reason: 'length' }, { total_tokens: 49_999 }));
    expect(await readReason(detect())).toBe('incomplete');
    expect(await readReason(detect())).toBe('budget');
    used.now += 60_000;
    used.model.respond = (_, response) => sendJson(response, completion('', {}, { total_tokens: -1e9 }));
    expect(await readReason(detect())).toBe('invalid_answer');
    expect(await readReason(used.open({ tokensPerMinute: 100 })())).toBe('budget');
  });

  test('let only so many tickets be with the endpoint, and so many more wait, until their time is over', async () => {
    const held: (() => void)[] = [];
    used.model.respond = (...all) => void held.push(() => answering({})(...all));
    const detect = used.open({ maxConcurrent: 2, maxWaiting: 1 });
    const first = [detect(), detect(), detect()].map(readReason);
    expect(await readReason(detect())).toBe('busy');
    await vi.waitFor(() => expect(held).toHaveLength(2), { timeout: 30_000 });
    expect(used.model.requests).toHaveLength(2);
    for (const release of held.splice(0)) release();
    await vi.waitFor(() => expect(held).toHaveLength(1), { timeout: 30_000 });
    held[0]?.();
    expect(await Promise.all(first)).toEqual(['none', 'none', 'none']);

    const quick = used.open({ maxConcurrent: 1, maxWaiting: 1, timeoutMs: 300 });
    expect(await Promise.all([quick(), quick()].map(readReason))).toEqual(['timeout', 'timeout']);
  });
});

describe('an endpoint that has failed five times in a row', () => {
  const fail = async (detect: ReturnType<typeof used.open>, times: number) => {
    for (let count = 0; count < times; count += 1) expect(await readReason(detect())).not.toBe('paused');
  };

  test('is left alone for a while, or until a setting changes', async () => {
    const detect = used.open();
    used.model.respond = failing(401);
    await fail(detect, 5);
    used.settings = { ...used.settings, version: 2 };
    await fail(detect, 5);
    used.model.respond = answering({});
    const asked = used.model.requests.length;
    expect(await readReason(detect())).toBe('paused');
    expect(used.model.requests).toHaveLength(asked);
    const now = Date.now() + limits.pauseMs;
    vi.spyOn(Date, 'now').mockImplementation(() => now);
    expect(await readReason(detect())).toBe('none');
  });

  // guarantee: I30
  test('by texts that nobody can answer is not', async () => {
    const detect = used.open();
    const refusal = completion(null, { message: { refusal: 'No.' } });
    const cut = completion('{', { finish_reason: 'length' });
    for (const respond of [
      failing(400),
      answering({ summary: null }),
      ...[refusal, cut].map(
        (one): StubModel['respond'] =>
          (_, response) =>
            sendJson(response, one),
      ),
    ]) {
      used.model.respond = respond;
      await fail(detect, 6);
    }
    used.model.respond = answering({});
    expect(await readReason(detect())).toBe('none');
  });

  test('by not responding in time is', async () => {
    const detect = used.open({ timeoutMs: 50 });
    used.model.respond = () => {};
    await fail(detect, 5);
    // The caller may learn of the last failure a moment before the circuit does.
    await vi.waitFor(async () => expect(await readReason(detect())).toBe('paused'), { timeout: 30_000 });
    expect(used.model.requests.length).toBeLessThanOrEqual(6);
  });
});
