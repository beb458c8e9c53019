import { withinTime } from '@ticketing/testkit/machine-limits.ts';
import { runs } from '@ticketing/testkit/search-effort.ts';
import { violationsOf } from '@ticketing/testkit/violations-of.ts';
import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';
import { defaultSettings } from '../settings.ts';
import { type RoutingOrder, routingOrders } from '../ticket/rules/queue-keys.ts';

const settings = { ...defaultSettings };
const tickets: TicketsHarness = await startHarness({ settings: async () => settings });
afterAll(() => tickets.stop());
beforeEach(async () => {
  settings.routingOrder = 'sla';
  settings.spamDetectionTagId = null;
  await tickets.database.collection('tickets').deleteMany({});
});

const post = async (body: object = {}): Promise<number> =>
  (await tickets.request('POST', '/ticket', { body: { channel: 'chat', ...body } })).json.id;
const latest = async (body: object = {}, caller = {}) =>
  (await tickets.request('POST', '/ticket/getLatest', { body, caller })).json;

interface Queued {
  id: number;
  status: string;
  spamStatus: string | null;
  priority: string;
  createdAt: number;
  dueBy: number | null;
}

const ranks = ['low', 'medium', 'high', 'urgent'];

/** The order of the queue, written directly from docs/reference/api.md, Queue. */
function compare(order: RoutingOrder, left: Queued, right: Queued): number {
  const byDue = (left.dueBy ?? Number.POSITIVE_INFINITY) - (right.dueBy ?? Number.POSITIVE_INFINITY) || 0;
  const byPriority = ranks.indexOf(right.priority) - ranks.indexOf(left.priority);
  const first = {
    sla: byDue,
    prioritySla: byPriority || byDue,
    priorityNewest: byPriority || right.createdAt - left.createdAt,
    priorityOldest: byPriority || left.createdAt - right.createdAt,
  }[order];
  return first || left.createdAt - right.createdAt || left.id - right.id;
}

const times = fc.constantFrom(-62_135_596_800, -1, 0, 1_700_000_000, 1_700_000_001, 253_402_300_799);
const anyQueued = fc.record({
  status: fc.constantFrom('open', 'open', 'open', 'pending', 'closed'),
  spamStatus: fc.constantFrom(null, null, null, 'manual_spam', 'manual_clean'),
  priority: fc.constantFrom(...ranks),
  createdAt: times,
  dueBy: fc.option(times),
});

async function replaceTickets(inputs: readonly Omit<Queued, 'id'>[]): Promise<Queued[]> {
  await tickets.database.collection('tickets').deleteMany({});
  const created: Queued[] = [];
  for (const { spamStatus, dueBy, ...fields } of inputs) {
    const id = await post({ ...fields, ...(dueBy === null ? {} : { dueBy }) });
    if (spamStatus !== null) await tickets.request('PATCH', '/ticket', { body: [{ id, spamStatus }] });
    created.push({ id, spamStatus, dueBy, ...fields });
  }
  return created;
}

describe('the queue', () => {
  // spec: 6.58, 19.1
  test('read forwards and backwards equals the sorted list, for random tickets and every order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyQueued, { minLength: 1, maxLength: 12 }), async (inputs) => {
        const all = await replaceTickets(inputs);
        for (const order of routingOrders) {
          settings.routingOrder = order;
          const queue = all
            .filter(({ status, spamStatus }) => status === 'open' && spamStatus !== 'manual_spam')
            .sort((left, right) => compare(order, left, right))
            .map(({ id }) => id);
          const read: number[] = [];
          let { earliest: at } = await latest();
          while (at !== null && read.length <= all.length) {
            read.push(at);
            at = (await latest({ preferredDirection: 'next', ticketId: at })).next;
          }
          expect(read, order).toEqual(queue);
          for (const ticket of all) {
            const before =
              queue.filter((id) => positionOf(all, id, order) < positionOf(all, ticket.id, order)).at(-1) ?? null;
            const after = queue.find((id) => positionOf(all, id, order) > positionOf(all, ticket.id, order)) ?? null;
            const expected = { earliest: queue[0] ?? null, previous: before, next: after };
            expect(await latest({ preferredDirection: 'previous', ticketId: ticket.id }), order).toEqual(expected);
            const { prevTicketId, nextTicketId } = (await tickets.request('GET', `/ticket/${ticket.id}`)).json;
            expect([prevTicketId, nextTicketId], order).toEqual([before, after]);
          }
        }
      }),
      { numRuns: runs(2, 25), endOnFailure: true },
    );
  });

  function positionOf(all: readonly Queued[], id: number, order: RoutingOrder): number {
    return [...all].sort((left, right) => compare(order, left, right)).findIndex((ticket) => ticket.id === id);
  }

  test('can be read before its indexes are built', async () => {
    const collection = tickets.database.collection('tickets');
    const [first, second] = [await post({ dueBy: 1 }), await post({ dueBy: 2 })];
    const indexes = (await collection.indexes()).filter(({ key }) => 'queueGroup' in key);
    expect(indexes).toHaveLength(4);
    for (const { name } of indexes) await collection.dropIndex(name as string);
    try {
      const body = { preferredDirection: 'next', ticketId: first };
      expect(await latest(body)).toEqual({ earliest: first, previous: null, next: second });
    } finally {
      for (const { key } of indexes) await collection.createIndex(key);
    }
  });

  // spec: 19.5
  test('returns nulls if it is empty', async () => {
    expect(await latest()).toEqual({ earliest: null, previous: null, next: null });
    const id = await post({ status: 'closed' });
    expect(await latest({ preferredDirection: 'next', ticketId: id })).toEqual({
      earliest: null,
      previous: null,
      next: null,
    });
  });

  // spec: 19.2, 19.3
  test('returns all three ids, as far as they exist, for every preferred direction', async () => {
    const [first, second, third] = [await post({ dueBy: 1 }), await post({ dueBy: 2 }), await post({ dueBy: 3 })];
    for (const preferredDirection of ['earliest', 'previous', 'next']) {
      expect(await latest({ preferredDirection, ticketId: second })).toEqual({
        earliest: first,
        previous: first,
        next: third,
      });
    }
    expect(await latest({ ticketId: null })).toEqual({ earliest: first, previous: null, next: null });
  });

  // spec: 19.3
  test.each(['previous', 'next'])('direction %s needs a ticket', async (preferredDirection) => {
    const refused = await tickets.request('POST', '/ticket/getLatest', { body: { preferredDirection } });
    expect([refused.status, violationsOf(refused)]).toEqual([400, ['#/ticketId required']]);
  });

  test('is 404 for a ticket that does not exist', async () => {
    const body = { preferredDirection: 'next', ticketId: 1_999_999 };
    expect((await tickets.request('POST', '/ticket/getLatest', { body })).status).toBe(404);
  });

  // spec: 19.4
  test('has only open tickets that are not spam, unless filters select others', async () => {
    const open = await post();
    const spam = await post();
    await tickets.request('PATCH', '/ticket', { body: [{ id: spam, spamStatus: 'manual_spam' }] });
    const closed = await post({ status: 'closed' });
    const pending = await post({ status: 'pending' });
    const walk = async (filters: object[]) => {
      const found: number[] = [];
      for (let at = (await latest({ filters })).earliest; at !== null; ) {
        found.push(at);
        at = (await latest({ filters, preferredDirection: 'next', ticketId: at })).next;
      }
      return found.sort((left, right) => left - right);
    };
    const status = (comparator: string, ...values: string[]) => ({ key: 't.status', comparator, values });
    expect(await walk([])).toEqual([open]);
    expect(await walk([status('in', 'closed')])).toEqual([closed]);
    expect(await walk([status('not in', 'closed')])).toEqual([open, pending]);
    expect(await walk([{ key: 't.status', comparator: '!=', value: 'open' }])).toEqual([closed, pending]);
    expect(await walk([{ key: 't.spamStatus', comparator: 'in', values: ['manual_spam'] }])).toEqual([spam]);
    expect(await walk([{ key: 't.spamStatus', comparator: 'not in', values: ['auto_spam'] }])).toEqual([open, spam]);
    expect(await walk([{ key: 't.priority', comparator: '=', value: 'urgent' }])).toEqual([]);
    expect(
      violationsOf(
        await tickets.request('POST', '/ticket/getLatest', { body: { filters: [{ key: 'x', comparator: '=' }] } }),
      ),
    ).toEqual(['#/filters/0/key unknown_filter_key']);
  });

  // spec: 20.8
  test('in scope skills has the tickets that the caller has the skills for, without those with the run-time spam tag', async () => {
    const tag = async (name: string) =>
      (await tickets.request('POST', '/tag', { caller: { roleId: 1 }, body: { name } })).json.id as number;
    const [mine, other] = [await tag('mein'), await tag('fremd')];
    const first = await post({ dueBy: 1, tags: [other] });
    const second = await post({ dueBy: 2, tags: [mine] });
    const third = await post({ dueBy: 3 });
    const caller = { skills: { tagIds: [mine], excludedTagIds: [], restricted: false } };
    expect((await latest({}, caller)).earliest).toBe(first);
    const scoped = { ticketScope: 'skills' };
    expect((await latest(scoped, caller)).earliest).toBe(second);
    expect((await latest({ ...scoped, preferredDirection: 'next', ticketId: second }, caller)).next).toBe(third);
    settings.spamDetectionTagId = mine;
    expect((await latest(scoped, caller)).earliest).toBe(third);
    settings.spamDetectionTagId = other;
    expect((await latest({}, caller)).earliest).toBe(second);
    expect((await tickets.request('GET', `/ticket/${second}`)).json.prevTicketId).toBeNull();
  });

  // guarantee: R1
  test('of a ticket that is read has changes by the same instance at once, and those by others within a second', async () => {
    const other = await tickets.startInstance();
    try {
      const urls = [tickets.url, `http://127.0.0.1:${other.ports.http}`];
      const [first, middle, last] = [await post({ dueBy: 10 }), await post({ dueBy: 20 }), await post({ dueBy: 30 })];
      const neighbours = async (url: string) => {
        const { prevTicketId, nextTicketId } = (await tickets.request('GET', `/ticket/${middle}`, { url })).json;
        return [prevTicketId, nextTicketId];
      };
      type Step = [id: number, body: object, expected: (number | null)[]];
      for (const [own = '', others = ''] of [urls, urls.toReversed()].slice(0, runs(1, 2))) {
        const change = async ([id, body, expected]: Step) => {
          await neighbours(others);
          await tickets.request('PATCH', `/ticket/${id}`, { url: own, body });
          expect(await neighbours(own)).toEqual(expected);
          await expect.poll(() => neighbours(others), { interval: 5 }).toEqual(expected);
        };
        /** Changes a ticket. Each attempt begins with the step that undoes it. */
        const changeSoon = (step: Step, undo: Step) =>
          withinTime(
            1_000,
            () => change(step),
            () => change(undo),
          );
        const early: Step = [first, { dueBy: 10 }, [first, last]];
        const late: Step = [first, { dueBy: 40 }, [null, last]];
        await changeSoon(late, early);
        const closed: Step = [last, { status: 'closed' }, [null, first]];
        const open: Step = [last, { status: 'open' }, [null, last]];
        await changeSoon(closed, open);
        await changeSoon(open, closed);
        const dueLast: Step = [middle, { dueBy: 50 }, [first, null]];
        const dueBetween: Step = [middle, { dueBy: 20 }, [null, last]];
        await changeSoon(dueLast, dueBetween);
        await changeSoon(dueBetween, dueLast);
        await changeSoon(early, late);
        const added = (await tickets.request('POST', '/ticket', { url: own, body: { channel: 'chat', dueBy: 15 } }))
          .json.id;
        expect(await neighbours(own)).toEqual([added, last]);
        await tickets.request('DELETE', `/ticket/${added}`, { url: own, caller: { roleId: 1 } });
        expect(await neighbours(own)).toEqual([first, last]);
        await change([first, { priority: 'high' }, [first, last]]);
      }
    } finally {
      await other.stop();
    }
  });
});
