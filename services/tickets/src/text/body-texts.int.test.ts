import { create } from '@bufbuild/protobuf';
import { Channel, Priority } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import {
  CreateTicketRequestSchema,
  GetTicketRequestSchema,
  UpdateTicketRequestSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { createLogger } from '@ticketing/runtime/logger.ts';
import type { Database } from '@ticketing/store/connection/database.ts';
import { testCall } from '@ticketing/testkit/test-call.ts';
import { testCaller } from '@ticketing/testkit/test-identity.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';
import { newProcess } from '../../test/new-process.ts';
import { bodyRules } from './rules/body-texts.ts';
import { openTextWork } from './work.ts';

let tickets: TicketsHarness;
let database: Database;

beforeAll(async () => {
  tickets = await startHarness();
  database = await tickets.openDatabase();
});
afterAll(async () => {
  await database.close();
  await tickets.stop();
});

const html = '<p onclick="x()">Guten <b>Tag</b></p><p>-- <br>Kim</p>';
const shown = '<p>Guten <b>Tag</b></p><p>-- <br />Kim</p>';
const post = async (body: object) =>
  (await tickets.request('POST', '/ticket', { body: { channel: 'email', ...body } })).json;
const get = async (id: number) => (await tickets.request('GET', `/ticket/${id}`)).json;
const search = async (word: string) =>
  (await tickets.request('POST', '/ticket/search', { body: { filters: [{ key: 'q', comparator: '=', value: word }] } }))
    .json;
const set = (id: number, fields: object) =>
  tickets.database.collection<{ _id: number }>('tickets').updateOne({ _id: id }, { $set: fields });

describe('the texts of a body', () => {
  // guarantee: H1
  test('are stored when it is written, beside the original, and a read only returns them', async () => {
    const { id } = await post({ body: html });
    expect(await tickets.documentOf(id)).toMatchObject({
      body: html,
      bodyHtml: shown,
      bodyPlain: 'Guten Tag\n\n--\nKim',
      bodyRules,
    });
    await set(id, { bodyHtml: '<i>stored</i>', bodyPlain: 'stored' });
    expect(await get(id)).toMatchObject({ body: '<i>stored</i>', bodyPlain: 'stored' });
  });

  test('are made anew by the first read after a change of the rules, without a new version or an event', async () => {
    const { id } = await post({ body: html });
    for (const old of [{ bodyRules: bodyRules - 1 }, { bodyRules: null }]) {
      await set(id, { ...old, bodyHtml: '<i>old</i>', bodyPlain: 'old', bodyClean: 'old', words: ['old'] });
      const before = await tickets.documentOf(id);
      expect(await get(id)).toMatchObject({
        version: 1,
        body: shown,
        bodyPlain: 'Guten Tag\n\n--\nKim',
        bodyClean: 'Guten Tag',
      });
      const after = await tickets.documentOf(id);
      const { words, ...texts } = {
        words: after.words,
        bodyHtml: shown,
        bodyPlain: after.bodyPlain,
        bodyClean: 'Guten Tag',
        bodyRules,
      };
      expect(after).toEqual({ ...before, ...texts, words, wordsRevision: after.wordsRevision });
      expect(words).toContain('guten');
      expect((await search('Guten')).tickets.map((ticket: { id: number }) => ticket.id)).toContain(id);
    }
  });

  test('that newer rules have made are kept', async () => {
    const { id } = await post({ body: html });
    await set(id, { bodyRules: bodyRules + 1, bodyHtml: '<i>newer</i>' });
    expect((await get(id)).body).toBe('<i>newer</i>');
    expect((await tickets.documentOf(id)).bodyRules).toBe(bodyRules + 1);
  });

  test('do not replace those of a ticket that was changed or deleted meanwhile', async () => {
    const { id } = await post({ body: html });
    const context = newProcess(tickets, database);
    const stored = await context.tickets.find(id);
    if (!stored) throw new Error('not found');
    const late = { ...stored.ticket, bodyHtml: 'late', bodyRules: bodyRules + 1 };
    await tickets.request('PATCH', `/ticket/${id}`, { body: { priority: 'high' } });
    await context.tickets.setBodyFields(late, testCaller());
    expect(await tickets.documentOf(id)).toMatchObject({ bodyHtml: shown, bodyRules });
    await tickets.request('DELETE', `/ticket/${id}`, { caller: { roleId: 1 } });
    await context.tickets.setBodyFields({ ...late, version: (await tickets.documentOf(id)).version }, testCaller());
    expect(
      Object.keys(await tickets.documentOf(id)).filter((name) => name.startsWith('body') || name === 'words'),
    ).toEqual([]);
  });

  test('are no change of a ticket that is posted again with the same body', async () => {
    const { id } = await post({ externalTicketId: 'same', body: html });
    await set(id, { bodyRules: bodyRules - 1, bodyHtml: 'old' });
    expect(await post({ externalTicketId: 'same', body: html })).toMatchObject({ id, version: 1, body: shown });
    expect((await tickets.documentOf(id)).outbox).toHaveLength(1);
  });

  test('are neither in lists nor in events', async () => {
    const { id } = await post({ body: html });
    const document = await tickets.documentOf(id);
    expect(JSON.stringify(document.outbox)).not.toMatch(/Guten|bodyHtml|bodyRules/);
    const [found] = (await search('Guten')).tickets;
    expect(JSON.stringify(found)).not.toMatch(/Guten|bodyHtml|bodyRules/);
  });

  test('of a long body are the same as those of a short one', async () => {
    const { id, ...posted } = await post({ body: html.repeat(2000) });
    expect(posted.body).toBe(shown.repeat(2000));
    expect(await tickets.documentOf(id)).toMatchObject({ bodyHtml: shown.repeat(2000), bodyRules });
    expect((await get(id)).body).toBe(posted.body);
  });

  test('fit into one document with the longest other fields', async () => {
    const image = `<img src="data:image/png;base64,${'A'.repeat(4 * 1024 * 1024)}">`;
    const addresses = Array.from({ length: 500 }, (_, index) => `${'𝒳'.repeat(310)}${index}`);
    const object = { a: 'x'.repeat(1024 * 1024 - 10) };
    const body = `${image}<p>${'wörter '.repeat(110_000)}</p>`;
    const rest = { to: addresses, cc: addresses, rawData: object, workitem: object };
    const { id } = await post({ channel: 'letter', body, ...rest });
    expect((await tickets.documentOf(id)).bodyHtml.length).toBeGreaterThan(4_900_000);
  });

  test('of a long text with tags show them as text', async () => {
    const { body } = await post({ body: 'a <b and c '.repeat(20_000) });
    expect(body).toBe('a &lt;b and c '.repeat(20_000));
  });
});

describe('a body beyond the limits of the worker', () => {
  const call = testCall();
  const request = (body: string) => create(CreateTicketRequestSchema, { channel: Channel.LETTER, body });

  test.each([
    ['time', { timeoutMs: 1 }],
    ['output', { maxOutputBytes: 100 }],
    // guarantee: H1
  ])('of %s is kept, and shown as escaped text', async (_, limits) => {
    const textWork = openTextWork(createLogger('tickets', 'silent'), limits);
    const body = '<td>x'.repeat(100_000);
    const context = newProcess(tickets, database);
    Object.assign(context.textWork, textWork);
    const { ticket } = await context.createTicket(call, request(body));
    expect(ticket).toMatchObject({ body: '&lt;td>x'.repeat(100_000), bodyPlain: body });
    expect(await tickets.documentOf(ticket?.id ?? 0)).toMatchObject({ body, bodyHtml: null, bodyRules });
    expect((await get(ticket?.id ?? 0)).body).toBe(ticket?.body);
    await textWork.close();
  });

  test('of the queue is refused as busy, and nothing is stored', async () => {
    const textWork = openTextWork(createLogger('tickets', 'silent'), { maxWorkers: 1, maxQueued: 0 });
    const context = newProcess(tickets, database);
    Object.assign(context.textWork, textWork);
    const count = await tickets.database.collection('tickets').countDocuments();
    const first = textWork.bodyFields('<td>x'.repeat(100_000), testCaller());
    await expect(context.createTicket(call, request('<td>x'.repeat(100_000)))).rejects.toMatchObject({
      code: 'unavailable',
      reason: 'sandbox_busy',
    });
    await first;
    expect(await tickets.database.collection('tickets').countDocuments()).toBe(count);
    await textWork.close();
  });

  // guarantee: H4
  test('of the queue does not fail a write that has happened; what older rules made is not shown', async () => {
    const { id } = await post({ channel: 'letter', body: '<td>x'.repeat(100_000) });
    const old = { bodyRules: bodyRules - 1, bodyHtml: '<i>old</i>', bodyPlain: 'old' };
    await set(id, old);
    const context = newProcess(tickets, database);
    const bodyFields = async () => {
      throw new DomainError('unavailable', 'sandbox_busy', 'busy', { retryAfterSeconds: 1 });
    };
    context.textWork.bodyFields = bodyFields;
    const patch = { ticketId: id, priority: Priority.HIGH, updateMask: { paths: ['priority'] } };
    const { ticket } = await context.updateTicket(call, create(UpdateTicketRequestSchema, patch));
    expect(ticket).toMatchObject({ version: 2, body: '&lt;td>x'.repeat(100_000), bodyPlain: '<td>x'.repeat(100_000) });
    expect(await tickets.documentOf(id)).toMatchObject({ version: 2, ...old });
    const read = context.getTicket(call, create(GetTicketRequestSchema, { ticketId: id }));
    await expect(read).rejects.toMatchObject({ reason: 'sandbox_busy' });
  });
});
