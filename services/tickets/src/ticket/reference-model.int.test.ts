import { runs } from '@ticketing/testkit/search-effort.ts';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';

let tickets: TicketsHarness;
let tagIds: number[];

beforeAll(async () => {
  tickets = await startHarness();
  tagIds = [];
  for (const name of ['a', 'b', 'c']) {
    tagIds.push((await tickets.request('POST', '/tag', { caller: { roleId: 1 }, body: { name } })).json.id);
  }
});
afterAll(() => tickets.stop());

/** A ticket as docs/reference/api.md describes it. */
interface ModelTicket {
  id: number;
  status: string;
  priority: string;
  contractId: string | null;
  tagIds: number[];
  version: number;
  isClosed: boolean;
  worklogEntries: number;
  isDeleted: boolean;
}

type Model = ModelTicket[];
type Real = TicketsHarness;
type Command = fc.AsyncCommand<Model, Real>;

interface Change {
  status?: string;
  priority?: string;
  contractId?: string | null;
  tags?: number[];
}

/** Applies a PATCH; written directly from docs/reference/api.md, Updating a ticket. */
function applyChange(
  ticket: ModelTicket,
  change: Change,
  chosen: readonly number[] | undefined,
  inWorklog: boolean,
): void {
  const { status, priority, contractId } = change;
  const after = { ...ticket };
  if (status !== undefined) after.status = status;
  if (priority !== undefined) after.priority = priority;
  if (contractId !== undefined) after.contractId = contractId;
  if (chosen !== undefined) after.tagIds = [...chosen];
  const isChanged = JSON.stringify(after) !== JSON.stringify(ticket);
  Object.assign(ticket, after, { isClosed: after.status === 'closed' });
  if (!isChanged && status === undefined) return;
  ticket.version += 1;
  if (inWorklog) ticket.worklogEntries += 1;
}

const pick = (model: Model, index: number): ModelTicket | undefined => model[index % Math.max(1, model.length)];
const chosenTags = (tags: readonly number[] | undefined) => tags?.map((index) => tagIds[index] as number);

function bodyOf({ tags, ...change }: Change): object {
  return { ...change, ...(tags ? { tagIds: chosenTags(tags) } : {}) };
}

function create(initial: string, tags: number[]): Command {
  return {
    check: () => true,
    async run(model: Model, real: Real) {
      const body = { channel: 'chat', status: initial, tags: chosenTags(tags) };
      const { status, json } = await real.request('POST', '/ticket', { body });
      expect(status).toBe(200);
      const fresh = { priority: 'low', contractId: null, version: 1, worklogEntries: 0, isDeleted: false };
      model.push({
        id: json.id,
        status: initial,
        tagIds: chosenTags(tags) ?? [],
        isClosed: initial === 'closed',
        ...fresh,
      });
    },
    toString: () => `create ${initial} ${tags}`,
  };
}

function patch(index: number, change: Change, inWorklog: boolean): Command {
  return {
    check: (model: Readonly<Model>) => model.length > 0,
    async run(model: Model, real: Real) {
      const ticket = pick(model, index) as ModelTicket;
      const path = `/ticket/${ticket.id}?includeInWorklog=${inWorklog}`;
      const { status, json } = await real.request('PATCH', path, { body: bodyOf(change) });
      expect(status).toBe(ticket.isDeleted ? 404 : 200);
      if (ticket.isDeleted) return;
      applyChange(ticket, change, chosenTags(change.tags), inWorklog);
      expect(json.ticket).toMatchObject({ id: ticket.id, version: ticket.version, tagIds: ticket.tagIds });
    },
    toString: () => `patch ${index} ${JSON.stringify(change)}`,
  };
}

function bulk(
  elements: { index: number; change: Change; add: number[]; isVersioned: boolean; isStale: boolean }[],
): Command {
  return {
    check: (model: Readonly<Model>) => model.length > 0,
    async run(model: Model, real: Real) {
      const chosen = new Map(elements.map((element) => [pick(model, element.index) as ModelTicket, element]));
      const body = [...chosen].map(
        ([
          ticket,
          {
            change: { tags, ...change },
            add,
            isVersioned,
            isStale,
          },
        ]) => ({
          id: ticket.id,
          ...change,
          ...(add.length > 0 ? { addTagIds: chosenTags(add) } : {}),
          ...(isVersioned || isStale ? { version: ticket.version + (isStale ? 1 : 0) } : {}),
        }),
      );
      const { status } = await real.request('PATCH', '/ticket', { body });
      if ([...chosen.keys()].some(({ isDeleted }) => isDeleted)) return expect(status).toBe(404);
      if ([...chosen.values()].some(({ isStale }) => isStale)) return expect(status).toBe(412);
      expect(status).toBe(200);
      for (const [
        ticket,
        {
          change: { tags, ...change },
          add,
        },
      ] of chosen) {
        const added = (chosenTags(add) ?? []).filter((id) => !ticket.tagIds.includes(id));
        applyChange(ticket, change, add.length > 0 ? [...ticket.tagIds, ...added] : undefined, true);
      }
    },
    toString: () => `bulk ${JSON.stringify(elements)}`,
  };
}

function remove(index: number): Command {
  return {
    check: (model: Readonly<Model>) => model.length > 0,
    async run(model: Model, real: Real) {
      const ticket = pick(model, index) as ModelTicket;
      const { status } = await real.request('DELETE', `/ticket/${ticket.id}`, { caller: { roleId: 1 } });
      expect(status).toBe(ticket.isDeleted ? 404 : 200);
      ticket.isDeleted = true;
    },
    toString: () => `delete ${index}`,
  };
}

function search(wanted: string): Command {
  return {
    check: () => true,
    async run(model: Model, real: Real) {
      const ids = model.map(({ id }) => id);
      const filters = [{ key: 't.status', comparator: '=', value: wanted }];
      const { json } = await real.request('POST', '/ticket/search', { body: { filters, limit: 500 } });
      const found = json.tickets.map(({ id }: { id: number }) => id).filter((id: number) => ids.includes(id));
      const expected = model.filter(({ status, isDeleted }) => status === wanted && !isDeleted).map(({ id }) => id);
      expect(found).toEqual(expected.reverse());
    },
    toString: () => `search ${wanted}`,
  };
}

const status = fc.constantFrom('open', 'pending', 'closed');
const tags = fc.subarray([0, 1, 2]);
const index = fc.nat(4);
const change = fc.record(
  { status, priority: fc.constantFrom('low', 'high'), contractId: fc.constantFrom(null, 'V1', 'V2'), tags },
  { requiredKeys: [] },
);
const element = fc.record({
  index,
  change,
  add: fc.subarray([0, 1, 2]),
  isVersioned: fc.boolean(),
  isStale: fc.integer({ min: 0, max: 9 }).map((drawn) => drawn === 0),
});
const commands = fc.commands(
  [
    fc.tuple(status, tags).map((given) => create(...given)),
    fc.tuple(index, change, fc.boolean()).map((given) => patch(...given)),
    fc.array(element, { minLength: 1, maxLength: 4 }).map((elements) => bulk(elements)),
    index.map((at) => remove(at)),
    status.map((wanted) => search(wanted)),
  ],
  { maxCommands: 25 },
);

test('after any sequence of requests, tickets are as a simple model predicts', async () => {
  await fc.assert(
    fc.asyncProperty(commands, async (given) => {
      const model: Model = [];
      await fc.asyncModelRun(() => ({ model, real: tickets }), given);
      for (const ticket of model) {
        const { status: readStatus, json } = await tickets.request('GET', `/ticket/${ticket.id}`);
        const document = await tickets.documentOf(ticket.id);
        const events = document.outbox.map((event: { version: number }) => event.version);
        const lastVersion = ticket.version + (ticket.isDeleted ? 1 : 0);
        expect(events).toEqual(Array.from({ length: lastVersion }, (_, at) => at + 1));
        expect(readStatus).toBe(ticket.isDeleted ? 404 : 200);
        if (ticket.isDeleted) continue;
        const { id, priority, contractId, version } = ticket;
        expect(json).toMatchObject({ id, status: ticket.status, priority, contractId, version, tagIds: ticket.tagIds });
        expect(json.closedAt !== null).toBe(ticket.isClosed);
        expect(document.manualWorkEntries).toBe(ticket.worklogEntries);
      }
    }),
    { numRuns: runs(15, 250), endOnFailure: true },
  );
});
