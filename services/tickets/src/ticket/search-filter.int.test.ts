import { runs } from '@ticketing/testkit/search-effort.ts';
import { seed } from '@ticketing/testkit/seed.ts';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { matchesFilter, naiveKeys, type RawFilter } from '../../test/naive-filter.ts';
import { anyFilter, comparatorsOf, filterOf, type SearchHarness, startSearch } from '../../test/naive-request.ts';
import { insertTickets, type NaiveTicket, randomTickets, texts } from '../../test/naive-ticket.ts';

let tickets: SearchHarness;
const all = randomTickets(160, seed);
const now = () => Math.floor(Date.now() / 1000);

beforeAll(async () => {
  tickets = await startSearch();
  await insertTickets(tickets, all);
});
afterAll(() => tickets.stop());

/** Searches over HTTP and compares ids and total with the result of the reference model. */
async function expectAgreement(filters: readonly RawFilter[], among: readonly NaiveTicket[] = all): Promise<number> {
  const found = await tickets.search({ filters, limit: 500, orderByDirection: 'asc' });
  const expected = among.filter((ticket) => filters.every((filter) => matchesFilter(ticket, filter, now())));
  expect({ filters, ids: found.ids, total: found.total }).toEqual({
    filters,
    ids: expected.map(({ id }) => id),
    total: expected.length,
  });
  return expected.length;
}

describe('a search among random tickets', () => {
  test.each([...naiveKeys.keys()])(
    // guarantee: I2
    'by %s finds the same tickets as the naive evaluator, for every comparator',
    async (key) => {
      const filters = fc.tuple(...comparatorsOf(key).map((comparator) => filterOf(key, comparator)));
      await fc.assert(
        fc.asyncProperty(filters, async (one) => {
          await Promise.all(one.map((filter) => expectAgreement([filter])));
        }),
        { numRuns: naiveKeys.get(key) === 'text' || key === 'q' ? runs(2, 20) : runs(1, 10) },
      );
    },
  );

  // spec: 5.9, 16.1, 20.9
  test('by several filters finds the tickets that match all of them', async () => {
    const sizes: number[] = [];
    const list = fc.array(anyFilter, { minLength: 2, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(fc.tuple(list, list, list, list), async (lists) => {
        sizes.push(...(await Promise.all(lists.map((filters) => expectAgreement(filters)))));
      }),
      { numRuns: runs(15, 300) },
    );
    // Without searches that find some tickets, but not all, the comparison would prove nothing.
    expect(sizes.filter((size) => size > 0 && size < all.length).length).toBeGreaterThan(sizes.length / 10);
  });

  // spec: 20.6
  test('by a range of a list key finds tickets with a value inside the range, not those with values only below and above it', async () => {
    for (const [from, to] of [
      [4, 5],
      [5, 4],
      [6, 2],
      [3, 3],
    ]) {
      await expectAgreement([{ key: 'tt.tagId', comparator: 'between', from, to }]);
      await expectAgreement([{ key: 'i.aiAgentId', comparator: 'between', from, to }]);
    }
  });

  test('by like finds a text with anything in its middle, also line breaks', async () => {
    for (const value of ['eine%Zeile', 'EINE%', '%\n%', '%ZWEITE%', '%Zeile', '%zeile%%', 'eine%zweite']) {
      await expectAgreement([{ key: 't.subject', comparator: 'like', value }]);
    }
  });

  test('by the unchanged text of a ticket finds that ticket', async () => {
    await Promise.all(
      texts.flatMap((value) => [
        expectAgreement([{ key: 't.subject', comparator: '=', value }]),
        expectAgreement([{ key: 't.subject', comparator: 'like', value }]),
      ]),
    );
  });
});

describe('spam filters', () => {
  // spec: 5.11
  test('every ticket matches either a filter of the spam statuses or one of null and the clean statuses', async () => {
    const spam = ['auto_spam', 'auto_programmatic', 'manual_spam'];
    const isSpam = await expectAgreement([{ key: 't.spamStatus', comparator: 'in', values: spam }]);
    const clean = [null, 'auto_clean', 'manual_clean'];
    const isClean = await expectAgreement([{ key: 't.spamStatus', comparator: 'in', values: clean }]);
    expect(isSpam + isClean).toBe(all.length);
  });

  // spec: 5.9, 5.10
  test('not in treats unset as not spam', async () => {
    const values = ['auto_spam', 'auto_programmatic', 'manual_spam'];
    const { ids } = await tickets.search({
      filters: [{ key: 'spamStatus', comparator: 'not in', values }],
      limit: 500,
    });
    const unset = all.filter(({ spamStatus }) => spamStatus === null).map(({ id }) => id);
    expect(unset.length).toBeGreaterThan(0);
    expect(ids).toEqual(expect.arrayContaining(unset));
  });
});

test('a search finds a ticket as soon as its creation was acknowledged, by its words in any case and with or without accents', async () => {
  const created = await tickets.request('POST', '/ticket', {
    body: {
      channel: 'portal',
      externalTicketId: 'Ext_77',
      subject: 'Straße nach Größe',
      body: '<p>Crème brûlée für <b>café@example.com</b>, Çelik; Kundennummer:K-12345</p>',
    },
  });
  const { id } = created.json;
  const found = async (value: string) =>
    (await tickets.search({ filters: [{ key: 'q', comparator: '=', value }] })).ids;
  for (const value of [
    'strasse',
    'GRÖSSE',
    'creme brulee',
    'cafe@example.com',
    'K-12345',
    'ext_77',
    'straße Çelik',
    `${id}`,
  ]) {
    expect(await found(value)).toContain(id);
  }
  for (const value of ['strasse fehlt', 'trasse', 'gr']) expect(await found(value)).not.toContain(id);
  await tickets.database.collection<{ _id: number }>('tickets').deleteOne({ _id: id });
});
