import type { CallerSkills } from '@ticketing/service-kit/caller.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from './harness.ts';

let tickets: TicketsHarness;
let spamDetectionTagId: number | null = null;
const tag: Record<string, number> = {};
const ticket: Record<string, number> = {};

beforeAll(async () => {
  tickets = await startHarness(async () => ({ lastAgentRouting: false, spamDetectionTagId }));
  const addTag = async (name: string, body = {}) => {
    tag[name] = (await tickets.request('POST', '/tag', { caller: { roleId: 1 }, body: { name, ...body } })).json.id;
  };
  await addTag('billing');
  await addTag('moving');
  await addTag('excluded', { type: 'other' });
  await addTag('note', { routingRelevant: false });
  await addTag('spam', { type: 'other' });
  const addTicket = async (name: string, tags: string[], body = {}) => {
    const tagIds = tags.map((one) => tag[one]);
    ticket[name] = (
      await tickets.request('POST', '/ticket', { body: { channel: 'email', tags: tagIds, ...body } })
    ).json.id;
  };
  await addTicket('untagged', []);
  await addTicket('billing', ['billing']);
  await addTicket('moving', ['moving']);
  await addTicket('both', ['billing', 'moving']);
  await addTicket('note', ['note']);
  await addTicket('excluded', ['excluded']);
  await addTicket('mineExcluded', ['excluded', 'moving'], { agentId: 7 });
  await addTicket('spamTag', ['spam']);
  for (const status of ['auto_spam', 'auto_programmatic', 'manual_spam', 'manual_clean']) {
    await addTicket(status, [], { agentId: 7 });
    await tickets.database
      .collection<{ _id: number }>('tickets')
      .updateOne({ _id: ticket[status] ?? 0 }, { $set: { spamStatus: status } });
  }
});
afterAll(() => tickets.stop());

async function inScope(skills: Partial<CallerSkills> = {}): Promise<string[]> {
  const caller = { skills: { tagIds: [], excludedTagIds: [], restricted: false, ...skills } };
  const body = { ticketScope: 'skills', orderByDirection: 'asc' };
  const { json } = await tickets.request('POST', '/ticket/search', { body, caller });
  const names = new Map(Object.entries(ticket).map(([name, id]) => [id, name]));
  for (const found of json.tickets) expect(found.hasRequiredSkills).toBe(true);
  return json.tickets.map(({ id }: { id: number }) => names.get(id));
}

const always = ['untagged', 'note', 'excluded', 'mineExcluded', 'spamTag', 'manual_clean'];
const sorted = (names: string[]) => [...names].sort();

describe('ticketScope skills', () => {
  test('restricts to tickets that match the skill tags of the agent', async () => {
    expect(sorted(await inScope({ tagIds: [tag.billing ?? 0] }))).toEqual(sorted([...always, 'billing', 'both']));
    expect(sorted(await inScope({ tagIds: [tag.moving ?? 0] }))).toEqual(sorted([...always, 'moving', 'both']));
  });
  test('ignores tags that are not routing-relevant', async () => {
    expect(await inScope()).toContain('note');
  });
  test('hides excluded tags from a restricted agent, but for tickets assigned to that agent', async () => {
    const excludedTagIds = [tag.excluded ?? 0];
    expect(sorted(await inScope({ excludedTagIds, restricted: true }))).toEqual(
      sorted(always.filter((name) => name !== 'excluded')),
    );
    expect(await inScope({ excludedTagIds })).toContain('excluded');
  });
});

describe('spamStatus rules', () => {
  test('auto_spam, auto_programmatic and manual_spam exclude from routing, assigned or not', async () => {
    const found = await inScope();
    expect(found).toContain('manual_clean');
    for (const status of ['auto_spam', 'auto_programmatic', 'manual_spam']) expect(found).not.toContain(status);
  });
  test('the run-time spam tag takes a ticket out of the scope, never out of filters', async () => {
    spamDetectionTagId = tag.spam ?? 0;
    expect(await inScope()).not.toContain('spamTag');
    const body = { filters: [{ key: 'spamStatus', comparator: 'in', values: [null, 'auto_clean', 'manual_clean'] }] };
    const { json } = await tickets.request('POST', '/ticket/search', { body });
    expect(json.tickets.map(({ id }: { id: number }) => id)).toContain(ticket.spamTag);
    spamDetectionTagId = null;
  });
});
