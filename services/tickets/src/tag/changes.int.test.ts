import type { RunningService } from '@ticketing/service-kit/lifecycle/compose-service.ts';
import { golden } from '@ticketing/testkit/golden.ts';
import { withinTime } from '@ticketing/testkit/machine-limits.ts';
import { runs } from '@ticketing/testkit/search-effort.ts';
import { violationsOf } from '@ticketing/testkit/violations-of.ts';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';

let tickets: TicketsHarness;
let second: RunningService;
let urls: string[];

beforeAll(async () => {
  tickets = await startHarness();
  second = await tickets.startInstance();
  urls = [tickets.url, `http://127.0.0.1:${second.ports.http}`];
});
afterAll(async () => {
  await second.stop();
  await tickets.stop();
});

const caller = { permissions: ['manageTags'] };
const post = async (body: object): Promise<number> => (await tickets.request('POST', '/tag', { caller, body })).json.id;
const get = async (id: number, url = tickets.url) => (await tickets.request('GET', `/tag/${id}`, { url })).json;
const patch = (id: number, body: object, url = tickets.url) =>
  tickets.request('PATCH', `/tag/${id}`, { caller, body, url });
const remove = (id: number, url = tickets.url) => tickets.request('DELETE', `/tag/${id}`, { caller, url });
const ticketWith = async (tags: number[]): Promise<number> =>
  (await tickets.request('POST', '/ticket', { body: { channel: 'chat', tags } })).json.id;
// biome-ignore lint/suspicious/noExplicitAny: tests read documents of every shape
const tagDocument = (id: number): Promise<any> =>
  tickets.database.collection<{ _id: number }>('tags').findOne({ _id: id });

describe('PATCH /tag/{id}', () => {
  test('sets the given fields, clears those that are null, and keeps the rest', async () => {
    const parent = await post({ name: 'Vertrieb' });
    const id = await post({ name: 'Neukunde', color: '#fff', sla: 28_800 });
    const everything = {
      name: ' Bestandskunde ',
      parent,
      reference: 'customer',
      type: 'brand',
      visibility: 'private',
      color: '#3b82f6',
      routingRelevant: false,
      sla: 172_800,
      firstResponseSla: 14_400,
      priority: 'urgent',
      detection: { keywords: ['Bestand'] },
    };
    const changed = await patch(id, everything);
    expect(changed.status).toBe(200);
    await golden('tag-patched', changed.json);
    expect(changed.json.tag).toEqual(await get(id));
    const cleared = await patch(id, { parent: null, color: null, sla: null, firstResponseSla: null, priority: null });
    expect(cleared.json.tag).toEqual({
      ...changed.json.tag,
      fullName: 'Bestandskunde',
      parent: null,
      color: null,
      sla: null,
      firstResponseSla: null,
      priority: null,
      modifiedAt: expect.any(String),
    });
  });

  test('refuses null where it is not allowed, unknown fields and computed fields', async () => {
    const id = await post({ name: 'Streng' });
    const never = { name: null, reference: null, type: null, visibility: null, routingRelevant: null, detection: null };
    expect(violationsOf(await patch(id, never))).toEqual(
      Object.keys(never)
        .map((field) => `#/${field} null_not_allowed`)
        .sort(),
    );
    expect(violationsOf(await patch(id, { fullName: 'x', id: 1, modifiedAt: 1, x: 1, sla: 0, name: '' }))).toEqual([
      '#/fullName read_only_field',
      '#/id read_only_field',
      '#/modifiedAt read_only_field',
      '#/name too_short',
      '#/sla out_of_range',
      '#/x unknown_field',
    ]);
    expect(violationsOf(await patch(id, { name: '  ', parent: 999_999 }))).toEqual([
      '#/name too_short',
      '#/parent unknown_tag',
    ]);
    expect((await tagDocument(id)).version).toBe(1);
  });

  test.each(['sla', 'firstResponseSla'])('%s is 1 to 315,360,000 seconds', async (field) => {
    const id = await post({ name: `Grenzen ${field}`, [field]: 1 });
    expect(await get(id)).toMatchObject({ [field]: 1 });
    expect((await patch(id, { [field]: 315_360_000 })).json.tag).toMatchObject({ [field]: 315_360_000 });
    for (const beyond of [-1, 0, 315_360_001]) {
      expect(violationsOf(await patch(id, { [field]: beyond }))).toEqual([`#/${field} out_of_range`]);
    }
    expect(violationsOf(await patch(id, { [field]: 1.5 }))).toEqual([`#/${field} wrong_type`]);
    expect(await get(id)).toMatchObject({ [field]: 315_360_000 });
  });

  test('refuses the tag itself and its descendants as its parent, and a name that another child of the parent has', async () => {
    const top = await post({ name: 'Oben' });
    const middle = await post({ name: 'Mitte', parent: top });
    const bottom = await post({ name: 'Unten', parent: middle });
    for (const parent of [top, middle, bottom]) {
      const cycle = await patch(top, { parent });
      expect([cycle.status, violationsOf(cycle)]).toEqual([400, ['#/parent tag_cycle']]);
      // Ids may have gaps.
      const named = JSON.stringify(cycle.json)
        .replaceAll(`tag ${bottom} `, 'tag 3 ')
        .replaceAll(`tag ${top} `, 'tag 1 ');
      if (parent === bottom) await golden('problem-400-tag-cycle', { ...JSON.parse(named), instance: '/tag/1' });
    }
    await post({ name: 'unten', parent: top });
    for (const body of [{ parent: top }, { parent: top, name: 'UNTEN' }]) {
      const taken = await patch(bottom, body);
      expect([taken.status, taken.json.code]).toEqual([409, 'duplicate_tag']);
    }
    expect((await patch(bottom, { parent: top, name: 'Ganz unten' })).status).toBe(200);
    expect((await patch(bottom, { name: 'GANZ UNTEN' })).json.tag.fullName).toBe('Oben / GANZ UNTEN');
    expect((await patch(middle, { name: 'Unten' })).status).toBe(409);
  });

  test('the former name of a renamed, moved or deleted tag can be used again', async () => {
    const id = await post({ name: 'Frei' });
    await patch(id, { name: 'Freier' });
    const next = await post({ name: 'frei' });
    expect((await remove(next)).status).toBe(200);
    expect((await patch(id, { name: 'Frei' })).status).toBe(200);
  });

  test('keeps the version if no value differs', async () => {
    const id = await post({ name: 'Gleich', color: '#fff', detection: { keywords: ['a'] } });
    const before = await tagDocument(id);
    for (const body of [{}, { name: ' Gleich ', parent: null }, { color: '#fff', detection: { keywords: ['a'] } }]) {
      expect((await patch(id, body)).status).toBe(200);
    }
    expect(await tagDocument(id)).toEqual(before);
  });

  test('requires the right manageTags and an existing tag', async () => {
    const id = await post({ name: 'Recht' });
    for (const [method, body] of [['PATCH', { name: 'x' }], ['DELETE']] as const) {
      const options = body ? { body } : {};
      expect((await tickets.request(method, `/tag/${id}`, options)).status).toBe(403);
      const missing = await tickets.request(method, '/tag/999999', { caller, ...options });
      expect([missing.status, missing.json.title]).toEqual([404, 'Tag not found']);
    }
  });

  const readTicket = async (id: number, url: string) => (await tickets.request('GET', `/ticket/${id}`, { url })).json;
  const readList = async (id: number, url: string) => {
    const body = { filters: [{ key: 't.id', comparator: '=', value: id }] };
    return (await tickets.request('POST', '/ticket/search', { url, body })).json.tickets[0];
  };

  async function expectFresh(kind: string, read: typeof readTicket): Promise<void> {
    const top = await post({ name: `Energie für ${kind}` });
    const id = await post({ name: 'Strom', parent: top });
    const ticketId = await ticketWith([id]);
    const fullName = async (url: string) => (await read(ticketId, url)).tags[0].fullName;
    let round = 0;
    const change = async () => {
      round += 1;
      const [own = '', other = ''] = [urls[round % 2], urls[(round + 1) % 2]];
      await fullName(other);
      await patch(top, { name: `Energie ${round} für ${kind}` }, own);
      expect(await fullName(own)).toBe(`Energie ${round} für ${kind} / Strom`);
      await expect.poll(() => fullName(other), { interval: 5 }).toBe(`Energie ${round} für ${kind} / Strom`);
    };
    for (let nth = 0; nth < 4; nth++) await withinTime(1_000, change);
  }

  // guarantee: R3
  test('is visible on tickets at once on its instance, and within a second on the others', () =>
    expectFresh('Tickets', readTicket));

  test('is visible in lists at once on its instance, and within a second on the others', () =>
    expectFresh('Listen', readList));

  // guarantee: R3
  test('that creates a tag is visible at once on every instance, on tickets and customers that have it', async () => {
    for (let round = 0; round < 4; round++) {
      const [own = '', other = ''] = [urls[round % 2], urls[(round + 1) % 2]];
      const customerId = `K-${round}`;
      await tickets.rpc('CustomerService/ImportCustomers', { customers: [{ id: customerId }] }, { roleId: 1 });
      const ticketId = await ticketWith([]);
      await tickets.request('PATCH', '/ticket', { body: [{ id: ticketId, customerId }] });
      const read = async () => (await tickets.request('GET', `/ticket/${ticketId}`, { url: other })).json;
      expect(await read()).toMatchObject({ tags: [], customer: { tags: [] } });
      const create = async (name: string) =>
        (await tickets.request('POST', '/tag', { caller, body: { name }, url: own })).json.id;
      const [tag, customerTag] = [await create(`Neu ${round}`), await create(`Kunde ${round}`)];
      const customers = [{ id: customerId, tagIds: [customerTag] }];
      await tickets.rpc('CustomerService/ImportCustomers', { customers }, { roleId: 1 });
      expect(await read()).toMatchObject({ tags: [], customer: { tags: [{ id: customerTag }] } });
      await tickets.request('PATCH', `/ticket/${ticketId}`, { body: { tagIds: [tag] }, url: own });
      expect(await read()).toMatchObject({ tags: [{ id: tag }], customer: { tags: [{ id: customerTag }] } });
    }
  });

  test('that creates a tag is visible at once on every instance, in lists of tickets that have it', async () => {
    const ticketId = await ticketWith([]);
    await tickets.request('PATCH', '/ticket', { body: [{ id: ticketId, customerId: 'K-list' }] });
    for (let round = 0; round < 4; round++) {
      const [own = '', other = ''] = [urls[round % 2], urls[(round + 1) % 2]];
      await readList(ticketId, other);
      const create = async (name: string) =>
        (await tickets.request('POST', '/tag', { caller, body: { name }, url: own })).json.id;
      const customerTag = await create(`Kunde der Liste ${round}`);
      // As another process has read the customer.
      await tickets.database
        .collection<{ _id: number }>('tickets')
        .updateOne({ _id: ticketId }, { $set: { customerTagIds: [customerTag] } });
      expect((await readList(ticketId, other)).customer.tags).toMatchObject([{ id: customerTag }]);
      const tag = await create(`Liste ${round}`);
      await tickets.request('PATCH', `/ticket/${ticketId}`, { body: { tagIds: [tag] }, url: own });
      expect((await readList(ticketId, other)).tags).toMatchObject([{ id: tag }]);
    }
  });
});

describe('concurrent changes', () => {
  const parentsOf = async (url: string): Promise<Map<number, number | null>> => {
    const { json } = await tickets.request('GET', '/tag?limit=1000&includeDisabled=true', { url });
    return new Map(json.tags.map((tag: { id: number; parent: number | null }) => [tag.id, tag.parent]));
  };
  const expectNoCycle = (parents: ReadonlyMap<number, number | null>) => {
    for (const id of parents.keys()) {
      let steps = 0;
      for (let at: number | null = id; at !== null; at = parents.get(at) ?? null) {
        steps += 1;
        expect(steps).toBeLessThanOrEqual(parents.size);
      }
    }
  };

  test('of two moves that put each tag below the other, one fails', async () => {
    const [left, right] = [await post({ name: 'Links' }), await post({ name: 'Rechts' })];
    for (let round = 0; round < 20; round++) {
      const responses = await Promise.all([
        patch(left, { parent: right }, urls[round % 2]),
        patch(right, { parent: left }, urls[(round + 1) % 2]),
      ]);
      expect(responses.map(({ status }) => status).sort()).toEqual([200, 400]);
      expect(responses.flatMap(violationsOf)).toEqual(['#/parent tag_cycle']);
      await Promise.all([left, right].map((id) => patch(id, { parent: null })));
    }
  });

  test('no cycle is ever read', async () => {
    const ids: number[] = [];
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) ids.push(await post({ name: `Knoten ${name}` }));
    const tagIndex = fc.nat(ids.length - 1);
    const move = fc.record({ tag: tagIndex, parent: fc.option(tagIndex, { freq: 8 }), instance: fc.nat(1) });
    await fc.assert(
      fc.asyncProperty(fc.array(move, { minLength: 5, maxLength: 25 }), async (moves) => {
        let isMoving = true;
        const watching = urls.map(async (url) => {
          while (isMoving) expectNoCycle(await parentsOf(url));
        });
        const responses = await Promise.all(
          moves.map(({ tag, parent, instance }) =>
            patch(ids[tag] ?? 0, { parent: parent === null ? null : ids[parent] }, urls[instance]),
          ),
        );
        isMoving = false;
        await Promise.all(watching);
        for (const response of responses) {
          if (response.status !== 200) expect(violationsOf(response)).toEqual(['#/parent tag_cycle']);
        }
        const [first, other] = await Promise.all(urls.map(parentsOf));
        expectNoCycle(first ?? new Map());
        expect(first).toEqual(other);
        const documents = await tickets.database.collection('tags').find({ deleted: null }).toArray();
        expect(new Map(documents.map(({ _id, parent }) => [Number(_id), parent]))).toEqual(first);
      }),
      { numRuns: runs(6, 100), endOnFailure: true },
    );
    for (const id of ids) {
      const { version, outbox } = await tagDocument(id);
      expect(outbox.map((event: { version: number }) => event.version)).toEqual(
        Array.from({ length: version }, (_, index) => index + 1),
      );
    }
  });

  test('many creations on two instances are all applied, although the log has only the last changes', async () => {
    const names = Array.from({ length: 60 }, (_, index) => `Viele ${index}`);
    const created = await Promise.all(
      names.map((name, index) =>
        tickets.request('POST', '/tag', { caller, body: { name }, url: urls[index % 2] as string }),
      ),
    );
    expect(new Set(created.map(({ status }) => status))).toEqual(new Set([200]));
    const third = await tickets.startInstance();
    try {
      for (const url of [...urls, `http://127.0.0.1:${third.ports.http}`]) {
        expect((await tickets.request('GET', '/tag?q=Viele', { url })).json.total).toBe(60);
      }
    } finally {
      await third.stop();
    }
  });
});

describe('DELETE /tag/{id}', () => {
  test('removes the tag from all its tickets, by one change each', async () => {
    const [id, other] = [await post({ name: 'Weg' }), await post({ name: 'Bleibt' })];
    const ticketIds = await Promise.all(Array.from({ length: 25 }, () => ticketWith([id, other])));
    const without = await ticketWith([other]);
    const response = await remove(id);
    expect(response.status).toBe(200);
    await golden('tag-deleted', response.json);
    for (const ticketId of ticketIds) {
      const { tagIds, minTagId, version, outbox } = await tickets.documentOf(ticketId);
      expect([tagIds, minTagId, version]).toEqual([[other], other, 2]);
      expect(outbox).toHaveLength(2);
      expect(outbox[1]).toMatchObject({
        type: 'ticket.updated',
        version: 2,
        cause: 'request',
        actor: { profileId: 7, kind: 'user' },
        changes: [{ field: 'tagIds', oldValue: [id, other], newValue: [other] }],
      });
    }
    expect((await tickets.documentOf(without)).version).toBe(1);
  });

  test('hides the tag everywhere, on every instance', async () => {
    const id = await post({ name: 'Unsichtbar' });
    await remove(id);
    for (const url of urls) {
      const gone = await tickets.request('GET', `/tag/${id}`, { url });
      expect([gone.status, gone.json.title]).toEqual([404, 'Tag not found']);
      expect((await tickets.request('GET', '/tag?q=unsichtbar', { url })).json.total).toBe(0);
      expect((await remove(id, url)).status).toBe(404);
      expect((await patch(id, { name: 'x' }, url)).status).toBe(404);
      expect(violationsOf(await patch(await post({ name: `Kind für ${url}` }), { parent: id }, url))).toEqual([
        '#/parent unknown_tag',
      ]);
      const body = { channel: 'chat', tags: [id] };
      expect(violationsOf(await tickets.request('POST', '/ticket', { body, url }))).toEqual(['#/tags/0 unknown_tag']);
    }
  });

  test('refuses a tag that has children', async () => {
    const parent = await post({ name: 'Eltern' });
    const child = await post({ name: 'Kind', parent });
    const refused = await remove(parent);
    expect(refused.status).toBe(409);
    await golden('problem-409-tag-has-children', { ...refused.json, instance: '/tag/1' });
    await remove(child);
    expect((await remove(parent)).status).toBe(200);
  });

  test('at the same time as the creation of a child: one of the two fails', async () => {
    for (let round = 0; round < 10; round++) {
      const parent = await post({ name: `Runde ${round}` });
      const [removed, created] = await Promise.all([
        remove(parent, urls[round % 2]),
        tickets.request('POST', '/tag', {
          caller,
          body: { name: 'Kind', parent },
          url: urls[(round + 1) % 2] as string,
        }),
      ]);
      expect([removed.status, created.status].sort()).toEqual(removed.status === 200 ? [200, 400] : [200, 409]);
    }
  });

  test('at the same time as changes of tickets: afterwards no ticket shows the tag, and none has it stored', async () => {
    const id = await post({ name: 'Wettlauf' });
    const known = await Promise.all(Array.from({ length: 10 }, () => ticketWith([id])));
    const changing = known.map((ticketId, index) =>
      tickets.request('PATCH', `/ticket/${ticketId}`, { body: { status: 'pending' }, url: urls[index % 2] as string }),
    );
    const creating = Array.from({ length: 20 }, (_, index) =>
      tickets.request('POST', '/ticket', { body: { channel: 'chat', tags: [id] }, url: urls[index % 2] as string }),
    );
    expect((await remove(id, urls[1])).status).toBe(200);
    expect(new Set((await Promise.all(changing)).map(({ status }) => status))).toEqual(new Set([200]));
    const created = (await Promise.all(creating)).filter(({ status }) => status === 200).map(({ json }) => json.id);
    for (const ticketId of [...known, ...created]) {
      const { json } = await tickets.request('GET', `/ticket/${ticketId}`);
      expect([json.tagIds, json.tags]).toEqual([[], []]);
      await expect.poll(async () => (await tickets.documentOf(ticketId)).tagIds).toEqual([]);
      const { version, outbox } = await tickets.documentOf(ticketId);
      expect(outbox.map((event: { version: number }) => event.version)).toEqual(
        Array.from({ length: version }, (_, index) => index + 1),
      );
    }
  });
});

describe('events', () => {
  test('are stored with each change of a tag; a deletion leaves no text', async () => {
    const id = await post({ name: 'Geheimnis', color: '#abc', detection: { keywords: ['Geheimnis'] } });
    await patch(id, { name: 'Neues Geheimnis' });
    await remove(id);
    const { cleanUpUntil, deletedBy, outboxSince: _, ...document } = await tagDocument(id);
    expect(cleanUpUntil).toBeGreaterThan(Date.now() / 1000);
    expect(deletedBy).toEqual({ profileId: 7, kind: 'user' });
    const event = {
      eventId: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
      occurredAt: expect.any(Number),
      traceparent: expect.any(String),
    };
    expect(document).toEqual({
      _id: id,
      deleted: true,
      version: 3,
      outbox: [
        { ...event, version: 1, deleted: false },
        { ...event, version: 2, deleted: false },
        { ...event, version: 3, deleted: true },
      ],
    });
    for (const { collectionName } of await tickets.database.collections()) {
      const kept = JSON.stringify(await tickets.database.collection(collectionName).find().toArray());
      expect(kept, collectionName).not.toContain('Geheimnis');
    }
  });
});

describe('a disabled tag', () => {
  test('is not in lists, but stays on its tickets and is accepted in requests for them', async () => {
    const id = await post({ name: 'Alt', type: 'other' });
    const ticketId = await ticketWith([id]);
    await patch(id, { visibility: 'disabled' });
    const list = async (query = '') => (await tickets.request('GET', `/tag?type=other${query}`)).json.total;
    expect([await list(), await list('&includeDisabled=true')]).toEqual([0, 1]);
    expect((await get(id)).visibility).toBe('disabled');
    const { json } = await tickets.request('GET', `/ticket/${ticketId}`);
    expect(json.tags[0].name).toBe('Alt');
    const again = await tickets.request('PATCH', `/ticket/${ticketId}`, { body: { tagIds: json.tagIds } });
    expect(again.json.ticket.tagIds).toEqual([id]);
  });
});
