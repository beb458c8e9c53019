import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { SessionService } from '@ticketing/contracts/ticketing/intents/v1/session_service_pb.ts';
import { violationsOf } from '@ticketing/testkit/violations-of.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type IntentsHarness, startHarness } from './harness.ts';

let intents: IntentsHarness;

beforeAll(async () => {
  intents = await startHarness();
});
afterAll(() => intents.stop());

const uuid = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

it('a page of AI agents that is too large names a limit that fits', async () => {
  const list = (limit: number) => intents.manage('GET', `/aiAgent?limit=${limit}`);
  const parameters = { type: 'object', description: 'x'.repeat(60_000) };
  const fields = {
    type: 'updateTicket',
    fields: { summary: 'x'.repeat(9_000), clientData: { text: 'x'.repeat(50_000) } },
  };
  await intents.agent({ name: 'A', parameters, executor: fields });
  const [one] = await intents.database.collection('aiAgents').find().toArray();
  const copies = Array.from({ length: 199 }, (_, index) => ({
    ...one,
    _id: (one?._id as never) + index + 1,
    slug: `s${index}`,
  }));
  await intents.database.collection('aiAgents').insertMany(copies as never[]);
  const refused = await list(200);
  expect(violationsOf(refused)).toEqual(['#/query/limit page_too_large']);
  const fits = Number(/limit of (\d+) fits/.exec(refused.text)?.[1]);
  expect((await list(fits)).json.aiAgents).toHaveLength(fits);
  expect((await list(fits + 1)).status).toBe(400);
});

it('a page of sessions that is too large names a limit that fits', async () => {
  const participants = Array.from({ length: 100 }, (_, index) => ({ id: index + 1, name: 'ä'.repeat(320) }));
  const assistant = await intents.openClient(SessionService, {
    caller: { kind: 'serviceWorker', permissions: ['recordSessions'] },
  });
  const [createdAt, lastActivityAt] = [timestampFromMs(0), timestampFromMs(1)];
  await assistant.recordSession({ id: uuid(1), createdAt, lastActivityAt, participants });
  const [one] = await intents.database.collection('sessions').find().toArray();
  const copies = Array.from({ length: 299 }, (_, index) => ({ ...one, _id: uuid(index + 2) as never }));
  await intents.database.collection('sessions').insertMany(copies);
  const list = (limit: number) => intents.request('GET', `/sessions?limit=${limit}`);
  const refused = await list(300);
  expect(violationsOf(refused)).toEqual(['#/query/limit page_too_large']);
  const fits = Number(/limit of (\d+) fits/.exec(refused.text)?.[1]);
  expect((await list(fits)).json.sessions).toHaveLength(fits);
});
