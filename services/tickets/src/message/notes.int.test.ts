import type { Caller } from '@ticketing/service-kit/identity/caller.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';
import { defaultSettings } from '../settings.ts';

let tickets: TicketsHarness;

beforeAll(async () => {
  tickets = await startHarness({ settings: async () => ({ ...defaultSettings, mailFrom: 'desk@example.org' }) });
});
afterAll(() => tickets.stop());

const author = { profileId: 7, roleId: 2, permissions: [] };
const colleague = { profileId: 8, roleId: 2, permissions: ['deleteTicket'] };
const vendor: Partial<Caller> = { kind: 'vendor', profileId: 9, roleId: 3, permissions: [] };
const technician = { profileId: 10, roleId: 2, permissions: ['updateTechnicalTicketFields'] };
const admin = { profileId: 1, roleId: 1, permissions: [] };
const machine: Partial<Caller> = { kind: 'serviceWorker', profileId: 20, roleId: 4, permissions: [] };
const otherMachine = { ...machine, profileId: 21 };

const content = (message: string) => ({ content: { message, type: 'text' } });
const path = (ticketId: number, rest: number | string) => `/ticket/${ticketId}/conversation/${rest}`;
const send = (method: string, url: string, caller: Partial<Caller>, body?: object) =>
  tickets.request(method, url, { caller, ...(body ? { body } : {}) });

async function write(caller: Partial<Caller>, body: object) {
  const mail = { channel: 'email', from: 'kim@example.com', subject: 'Meter', body: 'Broken.' };
  const { id } = (await send('POST', '/ticket', author, mail)).json;
  const { json } = await send('POST', path(id, 'reply'), caller, { ...content('I promise nothing.'), ...body });
  return path(id, json.id);
}
const note = (caller: Partial<Caller>) => write(caller, { private: true });
const read = async (url: string) => (await send('GET', url, colleague)).json;
const refusal = { status: 403, title: 'Unauthorized', code: 'not_the_author' };

test.each([
  ['a colleague', author, colleague],
  ['a vendor', author, vendor],
  ['a machine', author, machine],
  ['another machine', machine, otherMachine],
  ['a person', machine, author],
  // guarantee: C6
])('a note is not changed or deleted by %s, by REST or RPC', async (_who, writer, other) => {
  const url = await note(writer);
  const before = await read(url);
  expect((await send('PATCH', url, other, content('I granted a refund.'))).json).toMatchObject(refusal);
  expect((await send('DELETE', url, other)).json).toMatchObject(refusal);
  const { ticketId, id: conversationId } = before;
  const request = {
    ticketId,
    conversationId,
    content: { message: 'x', type: 'CONTENT_TYPE_TEXT' },
    updateMask: 'content',
  };
  const denied = [403, expect.objectContaining({ code: 'permission_denied' })];
  const rpc = 'ConversationService';
  expect(await tickets.rpc(`${rpc}/UpdateConversation`, request, other)).toEqual(denied);
  expect(await tickets.rpc(`${rpc}/DeleteConversation`, { ticketId, conversationId }, other)).toEqual(denied);
  expect(await read(url)).toEqual(before);
});

test.each([
  ['its author', author, author],
  ['the machine that wrote it', machine, machine],
  ['an admin', author, admin],
  ['a holder of updateTechnicalTicketFields', author, technician],
  // guarantee: C6
])('a note is changed and deleted by %s, and names who changed it', async (_who, writer, editor) => {
  const url = await note(writer);
  const before = await read(url);
  expect(before).toMatchObject({ modifiedBy: null, publishedBy: null });
  const ticket = `/ticket/${before.ticketId}`;
  const { version } = (await send('GET', ticket, author)).json;
  expect((await send('PATCH', url, editor, content('Changed.'))).json).toEqual({ success: true });
  const { modifiedAt } = await read(url);
  expect(await read(url)).toEqual({
    ...before,
    ...{ body: 'Changed.', bodyPlain: 'Changed.', bodyClean: 'Changed.' },
    modifiedBy: editor.profileId,
    modifiedAt,
  });
  expect((await send('GET', ticket, author)).json).toMatchObject({ version });
  expect((await send('DELETE', url, editor)).json).toEqual({ success: true });
  expect((await send('GET', url, author)).status).toBe(404);
});

test('a change of a note that changes nothing names nobody', async () => {
  const url = await note(author);
  await send('PATCH', url, admin, content('I promise nothing.'));
  expect(await read(url)).toMatchObject({ modifiedBy: null });
});

test('a draft is changed, published and deleted by everybody, and names who wrote, changed and published it', async () => {
  const url = await write(author, { isDraft: true });
  expect((await send('PATCH', url, vendor, content('Soon.'))).status).toBe(200);
  expect(await read(url)).toMatchObject({ agentId: 7, modifiedBy: 9, publishedBy: null });
  expect((await send('PATCH', url, colleague, { isDraft: false })).status).toBe(200);
  const published = { agentId: 7, sender: { id: 7 }, modifiedBy: 9, publishedBy: 8, isDraft: false, body: 'Soon.' };
  expect(await read(url)).toMatchObject(published);
  const other = await write(author, { isDraft: true });
  expect((await send('DELETE', other, vendor)).json).toEqual({ success: true });
});

test('a draft of a program has the person who published it as its author', async () => {
  const url = await write(machine, { isDraft: true });
  expect(await read(url)).toMatchObject({ agentId: null });
  await send('PATCH', url, colleague, { isDraft: false });
  expect(await read(url)).toMatchObject({ agentId: 8, modifiedBy: null, publishedBy: 8 });
});

// guarantee: C6
test('the audit log has changes of notes, and not those that were refused', async () => {
  const url = await note(author);
  const { ticketId, id } = await read(url);
  await send('PATCH', url, vendor, content('I granted a refund.'));
  await send('PATCH', url, admin, content('Changed.'));
  const entries = await tickets.database
    .collection('auditPending')
    .find({ 'subject.ids': String(id) })
    .toArray();
  expect(entries).toMatchObject([
    {
      actor: { kind: 'user', id: '1' },
      method: 'ticketing.tickets.v1.ConversationService.UpdateConversation',
      subject: { kind: 'Conversation', ids: [String(ticketId), String(id)] },
      fields: ['content'],
      isMade: true,
    },
  ]);
});

test('a note of a process of the previous version belongs to the person who wrote it', async () => {
  const url = await note(author);
  const { id } = await read(url);
  const fields = { authorKey: 1, isAutomatic: 1, publishedBy: 1, modifiedBy: 1 } as const;
  await tickets.database.collection<{ _id: number }>('conversations').updateOne({ _id: id }, { $unset: fields });
  expect((await send('PATCH', url, colleague, content('x'))).status).toBe(403);
  expect((await send('PATCH', url, author, content('Changed.'))).status).toBe(200);
});
