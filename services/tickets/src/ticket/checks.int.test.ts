import { afterAll, beforeAll, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';

let tickets: TicketsHarness;

beforeAll(async () => {
  tickets = await startHarness();
});
afterAll(() => tickets.stop());

/** The violations of a change that another service receives, and for which a bulk with this change is refused. */
async function check(fields: object, paths: string): Promise<{ checked: string[]; bulk: string[] }> {
  const { id } = (await tickets.request('POST', '/ticket', { body: { channel: 'email' } })).json;
  const change = { ...fields, id, updateMask: paths };
  const [status, response] = await tickets.rpc(
    'TicketService/CheckTicketChange',
    { change },
    { kind: 'service', service: 'intents' },
  );
  expect(status, JSON.stringify(response)).toBe(200);
  const textOf = ({ pointer, code }: { pointer: string; code: string }) => `${pointer} ${code}`;
  const refused = await tickets.rpc('TicketService/UpdateTickets', { tickets: [change] });
  const bulk = refused[1].details?.[0]?.debug?.errors ?? [];
  return {
    checked: (response.violations ?? []).map(textOf),
    bulk: bulk.map(textOf).map((text: string) => text.replace('#/tickets/0', '#')),
  };
}

// guarantee: I28
test('a change of a ticket is checked for another service as in a bulk', async () => {
  const tag = await tickets.request('POST', '/tag', { body: { name: 'A' }, caller: { permissions: ['manageTags'] } });
  const tagIds = [tag.json.id];
  expect((await check({ status: 'TICKET_STATUS_CLOSED', tagIds }, 'status,tagIds')).checked).toEqual([]);
  const wrong: [object, string, string[]][] = [
    [{ addTagIds: [99] }, 'addTagIds', ['#/addTagIds/0 unknown_tag']],
    [{ tagIds, removeTagIds: tagIds }, 'tagIds,removeTagIds', ['#/tagIds conflicting_tags']],
    [{ spamStatus: 'SPAM_STATUS_AUTO_SPAM' }, 'spamStatus', ['#/spamStatus not_allowed']],
  ];
  for (const [fields, paths, expected] of wrong) {
    expect(await check(fields, paths)).toEqual({ checked: expected, bulk: expected });
  }
});

test('nobody but a service may ask', async () => {
  const [status] = await tickets.rpc('TicketService/CheckTicketChange', { change: { id: 1, updateMask: '' } });
  expect(status).toBe(403);
});
