import { formatDateTime } from '@ticketing/rest/codec/date-time.ts';
import { runs } from '@ticketing/testkit/search-effort.ts';
import type { StubServer } from '@ticketing/testkit/stub-server.ts';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';
import { serveTemplates, TemplatesModel } from '../../test/stub-templates.ts';
import { defaultSettings } from '../settings.ts';

let templates: StubServer;
let tickets: TicketsHarness;
let tagIds: number[];

beforeAll(async () => {
  // Every subchannel and every template is unknown.
  templates = await serveTemplates(new TemplatesModel());
  tickets = await startHarness({
    calledPorts: { grpc: templates.port },
    settings: async () => ({ ...defaultSettings, subchannels: new Map() }),
  });
  const created = await Promise.all(
    ['a', 'b', 'c', 'd'].map((name) => tickets.request('POST', '/tag', { caller: { roleId: 1 }, body: { name } })),
  );
  tagIds = created.map(({ json }) => json.id);
});
afterAll(async () => {
  await tickets.stop();
  await templates.stop();
});

const search = (numRuns: number) => ({ numRuns, endOnFailure: true });
const post = (body: unknown, query = '') => tickets.request('POST', `/ticket${query}`, { body });

const text = (maxLength: number) => fc.string({ unit: 'binary', maxLength });
/** A text that may become a header of a mail. */
const headerText = (maxLength: number, minLength = 0) =>
  fc.string({ unit: 'binary', minLength, maxLength }).map((value) => value.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, '\t'));
const seconds = fc.integer({ min: -62_135_596_800, max: 253_402_300_799 });
/** A value as JSON can represent it, without -0. A key __proto__ is refused at any depth. */
const open = fc
  .dictionary(text(8), fc.jsonValue({ maxDepth: 3, noUnicodeString: false } as fc.JsonSharedConstraints))
  .map((value) => JSON.stringify(value))
  .filter((json) => !json.includes('"__proto__":'))
  .map((json) => JSON.parse(json) as Record<string, unknown>);

/** Any valid ticket of a channel whose addresses may be any text. */
const validTicket = fc.record(
  {
    from: headerText(40),
    fromName: headerText(40),
    to: fc.array(headerText(20, 1), { minLength: 1, maxLength: 4 }),
    cc: fc.array(headerText(20, 1), { minLength: 1, maxLength: 4 }),
    agentId: fc.integer({ min: 1, max: 2_147_483_647 }),
    priority: fc.constantFrom('low', 'medium', 'high', 'urgent'),
    channel: fc.constantFrom('phone', 'letter', 'chat', 'walkIn'),
    status: fc.constantFrom('open', 'pending', 'closed'),
    direction: fc.constantFrom('in', 'out', 'internal'),
    subject: headerText(200),
    body: fc.string({ unit: 'binary', minLength: 1, maxLength: 300 }),
    createdAt: seconds,
    firstResponseDueBy: seconds,
    dueBy: seconds,
    contractId: fc.string({ unit: 'binary', minLength: 1, maxLength: 25 }),
    rawData: open,
    workitem: open,
  },
  { requiredKeys: ['channel'] },
);

test('a valid ticket is accepted, and a GET returns the values that it was created with', async () => {
  await fc.assert(
    fc.asyncProperty(validTicket, fc.subarray([0, 1, 2, 3]), async (given, chosen) => {
      const tags = chosen.map((index) => tagIds[index]);
      const created = await post({ ...given, tags }, '?includeRawData=true');
      expect(created.status).toBe(200);
      const got = await tickets.request('GET', `/ticket/${created.json.id}?includeRawData=true`);
      const { sessions, prevTicketId, nextTicketId, ...read } = got.json;
      expect(sessions).toEqual([]);
      for (const neighbour of [prevTicketId, nextTicketId]) expect(neighbour).not.toBe(read.id);
      expect(read).toEqual(created.json);
      const { body, createdAt, firstResponseDueBy, dueBy, ...same } = given;
      expect(read).toMatchObject({ tagIds: tags, ...structuredClone(same) });
      for (const [field, value] of Object.entries({ createdAt, firstResponseDueBy, dueBy })) {
        if (value !== undefined) expect(read[field]).toBe(formatDateTime(value));
      }
      expect((await tickets.documentOf(read.id)).body).toBe(body ?? null);
      expect(read.lastMessageAt).toBe(body === undefined ? null : read.createdAt);
    }),
    search(runs(40, 500)),
  );
});

// guarantee: I37
test('the response to any JSON is 200 or 400', async () => {
  const names = [
    ...['from', 'fromName', 'to', 'cc', 'bcc', 'agentId', 'priority', 'channel', 'status', 'direction', 'subject'],
    ...['body', 'createdAt', 'dueBy', 'contractId', 'externalTicketId', 'rawData', 'workitem', 'tags', 'attachments'],
    ...['subchannelId', 'templateId', 'templateData', 'id', 'version', '__proto__', 'constructor', 'x'],
  ];
  const anything = fc.oneof(
    fc.jsonValue(),
    fc.integer(),
    fc.double(),
    fc.constantFrom('email', 'chat', 'open', 'in', '2026-01-01', {}, [], [1], [null], ''),
  );
  const bodies = fc.oneof(
    fc.json(),
    fc.string(),
    fc.array(fc.tuple(fc.constantFrom(...names), anything), { maxLength: 8 }).map((entries) => {
      const fields = entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value) ?? 'null'}`);
      return `{${['"channel":"email"', ...fields].join(',')}}`;
    }),
    fc.tuple(validTicket, fc.constantFrom(...names), anything).map(([ticket, name, value]) => {
      return JSON.stringify(Object.assign({ ...ticket }, { [name]: value }));
    }),
  );
  await fc.assert(
    fc.asyncProperty(bodies, async (body) => {
      const response = await post(body);
      expect([200, 400]).toContain(response.status);
      if (response.status === 400) expect(response.json.errors.length).toBeGreaterThan(0);
      else expect((await tickets.request('GET', `/ticket/${response.json.id}`)).status).toBe(200);
    }),
    search(runs(100, 2_000)),
  );
});

test('the response to any query is 200 or 400', async () => {
  const { json } = await post({ channel: 'chat' });
  const names = fc.oneof(fc.constantFrom('includeRawData', 'includeSessions', 'refresh', 'process'), fc.string());
  const pairs = fc.array(fc.tuple(names, fc.oneof(fc.constantFrom('true', 'false', ''), fc.string())), {
    maxLength: 4,
  });
  const queries = fc.oneof(
    pairs.map((entries) => new URLSearchParams(entries).toString()),
    fc.string().map((given) => encodeURI(given.toWellFormed()).replaceAll('#', '')),
  );
  await fc.assert(
    fc.asyncProperty(queries, async (query) => {
      expect([200, 400]).toContain((await tickets.request('GET', `/ticket/${json.id}?${query}`)).status);
      expect([200, 400]).toContain((await tickets.request('GET', `/tag?${query}`)).status);
    }),
    search(runs(40, 500)),
  );
});
