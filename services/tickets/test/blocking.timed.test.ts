import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { findLeast, withoutBlocking } from '@ticketing/testkit/machine-limits.ts';
import { measureCpuMs } from '@ticketing/testkit/measure.ts';
import { testCaller } from '@ticketing/testkit/test-identity.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BodyRequest, ClientData, Protocol, ShownTexts } from './body-client.ts';
import { startHarness, type TicketsHarness } from './harness.ts';

let tickets: TicketsHarness;

beforeAll(async () => {
  tickets = await startHarness();
});
afterAll(() => tickets.stop());

const maxBodyBytes = 5 * 1024 * 1024;
const protocols: Protocol[] = ['rest', 'connect', 'connect-json', 'grpc'];
/** Bodies of 5 MiB: a unit that is repeated, after a prefix. */
const hostile: [prefix: string, unit: string][] = [
  ['<p>', '<'],
  ['', '<ul><li>'],
  ['<p>', '&amp;'],
  ['', '<td>'],
  ['', '<'],
  ['', '<a'],
  ['<p>', '<a'],
  ['<p>', '&'],
  ['', '<br>'],
  ['', '<p>x'],
  ['', '<!-- x -->'],
  ['', 'hello wörld '],
  ['', '漢'],
  ['', '\ufdfa '],
];
/** Texts full of characters that JSON escapes: Connect itself reads and writes its JSON, at once. */
const escapedInJson: typeof hostile = [
  ['', 'x\n'],
  ['', 'Von: a\n'],
  ['', '"'],
  ['', '\\'],
  ['', '\u0001'],
];

function bodiesFor(protocol: Protocol): typeof hostile {
  return protocol === 'connect-json' ? hostile : [...hostile, ...escapedInJson];
}

/**
 * How long a request may work without a pause. Connect itself reads and writes its JSON at once, so that its limit grows
 * with the time that a slow machine needs for that. Units: ms.
 */
async function limitFor(protocol: Protocol): Promise<number> {
  if (protocol !== 'connect-json') return 50;
  const json = Buffer.from(JSON.stringify({ body: 'x '.repeat(maxBodyBytes / 2) }));
  const convert = () => Buffer.from(JSON.stringify(JSON.parse(json.toString())));
  const plainMs = await findLeast('ms of processor time', 0, () => measureCpuMs(convert));
  return Math.max(50, 4 * plainMs);
}

// guarantee: H5
test.each(protocols)('no body of 5 MiB blocks the service for more than 50 ms: %s', async (protocol) => {
  const token = await tickets.identity.internalToken('tickets', testCaller());
  const grpcUrl = `http://127.0.0.1:${tickets.running.ports.grpc}`;
  const workerData: ClientData = { protocol, url: tickets.url, grpcUrl, token };
  const client = new Worker(new URL('./body-client.ts', import.meta.url), { workerData });
  const send = async (request: BodyRequest): Promise<ShownTexts[]> => {
    client.postMessage(request);
    const [{ texts, error }] = await once(client, 'message');
    if (error) throw new Error(error);
    return texts;
  };
  // The first requests also compile code.
  for (const bytes of [100, 50_000, maxBodyBytes]) await send({ prefix: '<p>', unit: 'x ', bytes });
  const limitMs = await limitFor(protocol);
  for (const [prefix, unit] of bodiesFor(protocol)) {
    const texts = await withoutBlocking(limitMs, () => send({ prefix, unit, bytes: maxBodyBytes }));
    expect(texts.map(({ id }) => id)).toEqual([texts[0]?.id, texts[0]?.id]);
    expect(texts[1]?.body).toBe(texts[0]?.body);
  }
  await client.terminate();
});
