import { serviceCaller } from '@ticketing/service-kit/identity/caller.ts';
import { runs } from '@ticketing/testkit/search-effort.ts';
import { seed } from '@ticketing/testkit/seed.ts';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type SearchHarness, startSearch } from '../../test/naive-request.ts';
import { isSkilledFor, isSpam, type NaiveTag } from '../../test/naive-scope.ts';
import { insertTickets, type NaiveTicket, randomTickets } from '../../test/naive-ticket.ts';
import { defaultSettings } from '../settings.ts';

let tickets: SearchHarness;
let spamDetectionTagId: number | null = null;
const tags: NaiveTag[] = [];
/** The first four of them. */
let [routing, otherRouting, note, product] = [0, 0, 0, 0];

/** The tickets have tags from 1 to 8, of which two or more do not exist: ids can have gaps. */
const tagFields = [
  { type: 'skill', routingRelevant: true },
  { type: 'skill', routingRelevant: true },
  { type: 'skill', routingRelevant: false },
  { type: 'product', routingRelevant: true },
  { type: 'other', routingRelevant: false },
  { type: 'skill', routingRelevant: true },
];

beforeAll(async () => {
  tickets = await startSearch({ settings: async () => ({ ...defaultSettings, spamDetectionTagId }) });
  for (const [index, fields] of tagFields.entries()) {
    const body = { name: `tag ${index}`, ...fields };
    const { json } = await tickets.request('POST', '/tag', { caller: { roleId: 1 }, body });
    tags.push({ id: json.id, ...fields });
  }
  [routing, otherRouting, note, product] = tags.map(({ id }) => id) as [number, number, number, number];
});
afterEach(async () => {
  spamDetectionTagId = null;
  await tickets.database.collection('tickets').deleteMany({});
});
afterAll(() => tickets.stop());

const ids = fc.uniqueArray(fc.integer({ min: 1, max: 8 }), { maxLength: 4 });
const anyCaller = fc.record({
  profileId: fc.integer({ min: 1, max: 9 }),
  skills: fc.record({ tagIds: ids, excludedTagIds: ids, restricted: fc.boolean() }),
});

describe('ticketScope=skills', () => {
  // spec: 5.5
  test('has exactly the tickets that the caller has the skills for and that are not spam, for any tickets and callers', async () => {
    const all = randomTickets(160, seed);
    await insertTickets(tickets, all);
    const sizes: number[] = [];
    const spamTag = fc.option(fc.integer({ min: 1, max: 8 }));
    await fc.assert(
      fc.asyncProperty(anyCaller, spamTag, async (caller, tag) => {
        spamDetectionTagId = tag;
        const skilled = all.filter((ticket) => isSkilledFor(caller, ticket, tags)).map(({ id }) => id);
        const inScope = all.filter((ticket) => skilled.includes(ticket.id) && !isSpam(ticket, tag)).map(({ id }) => id);
        const list = { limit: 500, orderByDirection: 'asc' };
        const found = await tickets.search({ ...list, ticketScope: 'skills' }, { caller });
        expect({ ids: found.ids, total: found.total }).toEqual({ ids: inScope, total: inScope.length });
        const { json } = await tickets.request('POST', '/ticket/search', { body: list, caller });
        const marked = json.tickets.filter((ticket: { hasRequiredSkills: boolean }) => ticket.hasRequiredSkills);
        expect(json.total).toBe(all.length);
        expect(marked.map(({ id }: { id: number }) => id)).toEqual(skilled);
        sizes.push(inScope.length);
      }),
      { numRuns: runs(20, 300) },
    );
    expect(new Set(sizes).size).toBeGreaterThan(5);
  });

  test('of a service, which has no profile, has the tickets that need no skill, assigned or not', async () => {
    const all = randomTickets(60, seed + 1);
    await insertTickets(tickets, all);
    const caller = serviceCaller('gateway');
    const inScope = all.filter((ticket) => isSkilledFor(caller, ticket, tags) && !isSpam(ticket, null));
    const list = { limit: 500, orderByDirection: 'asc', ticketScope: 'skills' };
    expect((await tickets.search(list, { caller })).ids).toEqual(inScope.map(({ id }) => id));
  });
});

/** Whether a ticket is in the scope of the agent 7. */
async function isInScope(ticket: Partial<NaiveTicket>, skills: Partial<typeof none> = {}): Promise<boolean> {
  const [drawn] = randomTickets(1, seed);
  if (!drawn) throw new Error('no ticket was drawn');
  await insertTickets(tickets, [{ ...drawn, agentId: null, spamStatus: null, tagIds: [], ...ticket }]);
  const { total } = await tickets.search({ ticketScope: 'skills' }, { caller: { skills: { ...none, ...skills } } });
  return total === 1;
}
const none = { tagIds: [] as number[], excludedTagIds: [] as number[], restricted: false };

describe('a restricted agent', () => {
  const restricted = () => ({ restricted: true, excludedTagIds: [product] });

  // spec: 20.10
  test('sees a ticket that matches a skill and has no excluded tag', async () => {
    expect(await isInScope({ tagIds: [routing] }, { ...restricted(), tagIds: [routing] })).toBe(true);
  });
  test('does not see a ticket with an excluded tag, though it matches a skill', async () => {
    expect(await isInScope({ tagIds: [routing, product] }, { ...restricted(), tagIds: [routing] })).toBe(false);
  });
  test('does not see a ticket with an excluded tag that is not relevant to routing', async () => {
    expect(await isInScope({ tagIds: [note] }, { restricted: true, excludedTagIds: [note] })).toBe(false);
  });
  // spec: 20.11
  test('sees a ticket that is assigned to the agent, though it has an excluded tag and matches no skill', async () => {
    expect(await isInScope({ tagIds: [otherRouting, product], agentId: 7 }, restricted())).toBe(true);
  });
  test('does not see a ticket with an excluded tag that is assigned to another', async () => {
    expect(await isInScope({ tagIds: [product], agentId: 8 }, restricted())).toBe(false);
  });
  // spec: 5.5, 20.13
  test('does not see spam, even if it is assigned to the agent', async () => {
    expect(await isInScope({ agentId: 7, spamStatus: 'manual_spam' }, restricted())).toBe(false);
  });
});

describe('an agent who is not restricted', () => {
  test('sees a ticket with an excluded tag', async () => {
    expect(await isInScope({ tagIds: [product] }, { excludedTagIds: [product] })).toBe(true);
  });
  // spec: 20.10
  test('does not see a ticket that needs other skills', async () => {
    expect(await isInScope({ tagIds: [routing] }, { tagIds: [otherRouting] })).toBe(false);
  });
  test('needs only one of several skills', async () => {
    expect(await isInScope({ tagIds: [routing, otherRouting] }, { tagIds: [otherRouting] })).toBe(true);
  });
  // spec: 20.12
  test('sees a ticket that has only tags of another type, or tags that are not relevant to routing', async () => {
    expect(await isInScope({ tagIds: [note, product] })).toBe(true);
  });
  // spec: 20.12
  test('does not see a ticket because of a tag that is not relevant to routing', async () => {
    expect(await isInScope({ tagIds: [routing, note] }, { tagIds: [note] })).toBe(false);
  });
});

describe('the tag that marks spam at run time', () => {
  // spec: 5.7
  test('excludes a ticket from the scope skills, though it is assigned to the agent and marked clean', async () => {
    spamDetectionTagId = note;
    expect(await isInScope({ tagIds: [note], agentId: 7, spamStatus: 'manual_clean' })).toBe(false);
  });
  // spec: 5.8
  test('does not exclude a ticket from a filtered search or from the scope all', async () => {
    spamDetectionTagId = note;
    await isInScope({ tagIds: [note] });
    const clean = { key: 't.spamStatus', comparator: 'in', values: [null, 'auto_clean', 'manual_clean'] };
    expect((await tickets.search({ filters: [clean] })).total).toBe(1);
    const spam = { key: 't.spamStatus', comparator: 'in', values: ['auto_spam', 'manual_spam', 'auto_programmatic'] };
    expect((await tickets.search({ filters: [spam] })).total).toBe(0);
  });
});
