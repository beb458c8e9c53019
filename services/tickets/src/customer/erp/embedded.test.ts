import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Customer } from '../rules/customer.ts';
import { embeddedErp } from './embedded.ts';
import type { CustomerDocument, CustomerStore } from './embedded-store.ts';

const customer: Customer = {
  id: 'K-1',
  business: false,
  company: null,
  firstname: null,
  lastname: null,
  email: 'ada@example.org',
  phone: null,
  address: null,
  zip: null,
  city: null,
  tagIds: [],
  contracts: [],
  additionalData: null,
};

/** A store in memory that counts its calls. */
function countingStore() {
  const documents: CustomerDocument[] = [];
  const calls: string[] = [];
  const count = <Result>(name: string, result: Result) => {
    calls.push(name);
    return Promise.resolve(result);
  };
  const store: CustomerStore = {
    isEmpty: () => count('isEmpty', documents.length === 0),
    find: (id) => count('find', documents.find(({ _id }) => _id === id)?.content),
    list: ({ anyKey = [] }) => {
      const found = documents.filter(({ keys }) => keys.some((key) => anyKey.includes(key)));
      return count(
        'list',
        found.map(({ content }) => content),
      );
    },
    count: () => count('count', documents.length),
    write(ids, make) {
      documents.push(...make(new Map()));
      return count('write', { created: ids.length, updated: 0, unchanged: 0 });
    },
  };
  return { store, calls };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const traces = { ids: ['K-1'], email: 'ADA@example.org' };

it('does not look for a customer again for 5 seconds, if there are none', async () => {
  const { store, calls } = countingStore();
  const erp = embeddedErp(store, async () => 'DE');
  expect(await erp.match(traces)).toEqual([]);
  vi.advanceTimersByTime(4_999);
  expect([await erp.match(traces), await erp.customer('K-1'), await erp.contract('V')]).toEqual([
    [],
    undefined,
    undefined,
  ]);
  expect(calls).toEqual(['isEmpty']);
  vi.advanceTimersByTime(1);
  await erp.match(traces);
  expect(calls).toEqual(['isEmpty', 'isEmpty']);
});

it('finds a customer as soon as one is imported, by one call', async () => {
  const { store, calls } = countingStore();
  const erp = embeddedErp(store, async () => 'DE');
  await erp.match(traces);
  await erp.add([customer]);
  expect(await erp.match(traces)).toEqual([customer]);
  expect(await erp.match({ ids: [], email: null })).toEqual([]);
  expect(calls).toEqual(['isEmpty', 'write', 'list']);
});
