import { type DatabaseForwarder, openDatabaseForwarder } from '@ticketing/testkit/database-forwarder.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { author, startHarness, type TemplatesHarness } from './harness.ts';

let harness: TemplatesHarness;
let forwarder: DatabaseForwarder;

beforeAll(async () => {
  forwarder = await openDatabaseForwarder();
  harness = await startHarness();
});
afterAll(async () => {
  await harness.stop();
  await forwarder.close();
});

test('while the database is unavailable nothing is ready or served, but a preview without an e-mail template is', async () => {
  const running = await harness.startInstance({ TICKETING_TEMPLATES_MONGODB_URI: forwarder.uri });
  const url = `http://127.0.0.1:${running.ports.http}`;
  const send = (method: string, path: string, body?: object) =>
    harness.request(method, path, { caller: author, url, ...(body === undefined ? {} : { body }) });
  const isReady = async () => (await fetch(`${url}/readyz`)).ok;
  const { id } = (await send('POST', '/template', { message: 'a' })).json;
  expect(await isReady()).toBe(true);
  await forwarder.close();
  await expect.poll(isReady).toBe(false);
  const requests = [
    ['GET', '/template'],
    ['GET', `/template/${id}`],
    ['POST', '/template', { message: 'b' }],
    ['PATCH', `/template/${id}`, { message: 'b' }],
    ['DELETE', `/template/${id}`],
    ['GET', '/emailTemplate'],
    ['POST', '/emailTemplate', { name: 'a', template: '%MESSAGE%' }],
    ['POST', '/template/preview', { message: 'b', emailTemplateId: 1 }],
  ] as const;
  const responses = await Promise.all(requests.map(([method, path, body]) => send(method, path, body)));
  for (const { status, json, headers } of responses) {
    expect([status, json.code, headers.get('retry-after')]).toEqual([503, 'store_unavailable', '1']);
  }
  expect((await send('POST', '/template/preview', { message: '{{agent.firstName}}' })).json.preview).toBe('<p>Ada</p>');
  await forwarder.open();
  await expect.poll(isReady).toBe(true);
  expect((await send('GET', `/template/${id}`)).json.message).toBe('a');
  await running.stop();
});
