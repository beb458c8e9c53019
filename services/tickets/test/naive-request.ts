import type { TestResponse } from '@ticketing/testkit/send-request.ts';
import type { HarnessRequest } from '@ticketing/testkit/service-harness.ts';
import fc from 'fast-check';
import { startHarness, type TicketsHarness } from './harness.ts';
import { naiveKeys, type RawFilter } from './naive-filter.ts';
import { spellings, texts, times } from './naive-ticket.ts';

const ordered = ['=', 'equal', '!=', '<', '<=', '>', '>=', 'between', 'in', 'not in'];

/** The comparators that a key accepts. */
export function comparatorsOf(key: string): string[] {
  switch (naiveKeys.get(key)) {
    case 'words':
      return ['=', 'equal'];
    case 'boolean':
      return ['=', 'equal', '!=', 'in', 'not in'];
    case 'text':
      return key.slice(2) in spellings ? ordered : [...ordered, 'like'];
    default:
      return ordered;
  }
}

/** Any filter of a key and comparator, sometimes without the prefix of its key. */
export function filterOf(key: string, comparator: string): fc.Arbitrary<RawFilter> {
  const value = anyValue(key);
  const name = key.startsWith('t.') ? fc.constantFrom(key, key.slice(2)) : fc.constant(key);
  const base = { key: name, comparator: fc.constant(comparator) };
  const orNull = fc.oneof({ weight: 5, arbitrary: value }, { weight: 1, arbitrary: fc.constant(null) });
  switch (comparator) {
    case 'between':
      return fc.record({ ...base, from: value, to: value });
    case 'in':
    case 'not in':
      return fc.record({ ...base, values: fc.array(orNull, { minLength: 1, maxLength: 5 }) });
    case 'like':
      return fc.record({ ...base, value: likeText });
    case '!=':
      return fc.record({ ...base, value: orNull });
    case '=':
    case 'equal':
      return fc.record({ ...base, value: key === 'q' ? value : orNull });
    default:
      return fc.record({ ...base, value });
  }
}

/** Any filter. */
export const anyFilter: fc.Arbitrary<RawFilter> = fc
  .constantFrom(...naiveKeys.keys())
  .chain((key) => fc.constantFrom(...comparatorsOf(key)).chain((comparator) => filterOf(key, comparator)));

/** A text in which some parts are replaced by `%`. */
const textWithWildcards = fc
  .tuple(
    fc.constantFrom(...texts),
    fc.array(fc.nat(20), { minLength: 2, maxLength: 6 }),
    fc.integer({ min: 0, max: 2 }),
  )
  .map(([text, cuts, form]) => {
    const letters = [...text];
    const edges = cuts.map((cut) => Math.min(cut, letters.length)).sort((left, right) => left - right);
    const kept = [0, ...edges, letters.length].map((edge, index, all) =>
      index % 2 === 0 ? letters.slice(edge, all[index + 1]).join('') : '%',
    );
    const pattern = kept.join('');
    return [pattern, pattern.toUpperCase(), pattern.toLowerCase()][form];
  });

const likeText = fc.oneof(
  textWithWildcards,
  fc
    .array(fc.oneof(fc.constant('%'), fc.constantFrom(...texts.flatMap(pieces))), { minLength: 1, maxLength: 5 })
    .map((parts) => parts.join('')),
);

/** Prefixes, suffixes and inner parts of a text, in both cases. */
function pieces(text: string): string[] {
  const letters = [...text];
  const cuts = [letters, letters.slice(0, 3), letters.slice(-2), letters.slice(1, -1), letters.slice(2, 3)];
  return cuts.map((cut) => cut.join('')).flatMap((cut) => [cut, cut.toUpperCase(), cut.toLowerCase()]);
}

const queryText = fc
  .array(fc.constantFrom(...texts.flatMap((text) => [text, ...text.split(/\s/)]), 'ada', 'example.org', '4711', '!?'), {
    minLength: 1,
    maxLength: 3,
  })
  .map((parts) => parts.join(' '))
  .filter((text) => /[\p{L}\p{N}]/u.test(text));

const dateText = fc.constantFrom(...times).chain((seconds) => {
  const utc = new Date(seconds * 1000).toISOString();
  const plainText = `${utc.slice(0, 10)} ${utc.slice(11, 19)}`;
  const eastern = `${new Date((seconds + 7200) * 1000).toISOString().slice(0, 19)}+02:00`;
  return fc.constantFrom<unknown>(utc.slice(0, 10), plainText, utc, `${utc.slice(0, 19)}Z`, eastern, seconds);
});

function anyValue(key: string): fc.Arbitrary<unknown> {
  switch (naiveKeys.get(key)) {
    case 'words':
      return queryText;
    case 'time':
      return dateText;
    case 'boolean':
      return fc.constantFrom<unknown>(true, false, 'true', 'false');
    case 'rank':
      return fc.constantFrom(...spellings.priority);
    case 'number': {
      const number = key === 't.id' ? fc.integer({ min: -1, max: 160 }) : fc.integer({ min: 0, max: 9 });
      return fc.oneof(number, number.map(String), fc.constantFrom(Number.MAX_SAFE_INTEGER, -1));
    }
    default:
      return textValue(key);
  }
}

function textValue(key: string): fc.Arbitrary<unknown> {
  const enumeration = Object.entries(spellings).find(([name]) => key === `t.${name}`);
  if (enumeration) return fc.constantFrom(...enumeration[1]);
  const ids = fc.constantFrom<unknown>('4711', 4711, 'K-4711', 'V.1', '10', 9, 'EXT-1', 'de', 'German');
  return fc.oneof(ids, fc.constantFrom(...texts), fc.constantFrom('ada@example.org', 'B', 'z', ''));
}

/** The response to a search, with the ids of its tickets. */
export interface SearchResult {
  ids: number[];
  total: number;
  offset: number;
  limit: number;
  nextCursor: string | null;
}

/** A running tickets service, with shortcuts for searches. */
export interface SearchHarness extends TicketsHarness {
  /** Searches; a status other than 200 is an error. */
  search(body: object, options?: HarnessRequest): Promise<SearchResult>;
  /** Makes a search that is expected to be refused. */
  refused(body: unknown): Promise<TestResponse>;
}

/** Starts a tickets service for tests of the search. */
export async function startSearch(options?: Parameters<typeof startHarness>[0]): Promise<SearchHarness> {
  const harness = await startHarness(options);
  return {
    ...harness,
    async search(body, options = {}) {
      const { status, json } = await harness.request('POST', '/ticket/search', { ...options, body });
      if (status !== 200) throw new Error(`${status} ${JSON.stringify(json)} for ${JSON.stringify(body)}`);
      return { ...json, ids: json.tickets.map(({ id }: { id: number }) => id) };
    },
    refused: (body) => harness.request('POST', '/ticket/search', { body }),
  };
}
