import { createHash } from 'node:crypto';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import type { DefaultCountry } from '@ticketing/text/phone-number.ts';
import type { CustomerQuery, CustomerTraces, FoundCustomers } from './erp/erp.ts';
import type { ConfiguredErp } from './erp/open.ts';
import type { ErpResponseStore } from './erp/response-store.ts';
import type { Contract, Customer } from './rules/customer.ts';

/** How a response of the ERP system is obtained. */
export interface ErpReadOptions {
  /** `cached`: one that is kept, if there is one. `fresh`: always a new one. `cacheOnly`: the ERP system is not called. */
  mode: 'cached' | 'fresh' | 'cacheOnly';
  /** The ticket that needs it, if one does: with its deletion, responses that no other ticket has used are erased. */
  ticketId?: number;
  /** Until when the caller waits for the ERP system, as `deadline()` returns it. */
  deadline: number;
}

/**
 * A response of the ERP system: null, if it has no such item; undefined, if it did not respond in time, or must not be
 * called.
 */
export type ErpResponse<Item> = Item | null | undefined;

/**
 * Reads customers and contracts for tickets, from responses that are kept for a time where there are any. No read waits
 * for the ERP system beyond its deadline; the late response is kept for the next one.
 *
 * Errors: store_unavailable.
 */
export interface CustomerDirectory {
  /** The deadline of a request for a ticket that begins now, by the clock of `performance.now`. */
  deadline(): number;
  customer(id: string, options: ErpReadOptions): Promise<ErpResponse<Customer>>;
  contract(id: string, options: ErpReadOptions): Promise<ErpResponse<Contract>>;
  /** The customers that have one of the traces, always from a new response; undefined as above. */
  match(traces: CustomerTraces, deadline: number): Promise<Customer[] | undefined>;
  /** The country whose telephone numbers are written without its code. */
  country(): Promise<DefaultCountry>;
  /** Keeps a customer that was found by `match`, for the reads of the ticket. */
  keep(customer: Customer, ticketId: number | undefined): Promise<void>;
  /** Waits until the ERP system has responded. Errors: erp_unavailable. */
  search(query: CustomerQuery, page: { limit: number; offset: number }): Promise<FoundCustomers>;
}

interface DirectoryParts {
  erp(): Promise<ConfiguredErp>;
  country(): Promise<DefaultCountry>;
  responses: ErpResponseStore;
  runtime: Pick<Runtime, 'now'>;
  log: Logger;
  /** How long a response is kept. */
  cacheMs: number;
  /** How long a ticket waits for the ERP system. */
  waitMs: number;
}

/** Searches and responses without an item are kept at most this long, because people wait for changes. */
const shortCacheMs = 60_000;
/** Longer responses are not kept. */
const maxContentLength = 1024 * 1024;

export function openCustomerDirectory(parts: DirectoryParts): CustomerDirectory {
  const { erp, country, responses, runtime, log, cacheMs, waitMs } = parts;
  const running = new Map<string, Promise<unknown>>();

  /** Sends one request for all concurrent readers of the same response. */
  function shared<Item>(key: string, ask: () => Promise<Item>): Promise<Item> {
    const known = running.get(key) as Promise<Item> | undefined;
    if (known) return known;
    const asked = ask().finally(() => running.delete(key));
    running.set(key, asked);
    return asked;
  }

  async function keepResponse(key: string, response: unknown, keptMs: number, ticketId?: number): Promise<void> {
    const content = JSON.stringify(response);
    if (content.length > maxContentLength || keptMs === 0) return;
    await responses.put(key, content, new Date(runtime.now() + keptMs), ticketId);
  }

  /** Reads an item from the responses that are kept, or from the ERP system. */
  async function item<Item>(
    kind: string,
    id: string,
    { mode, ticketId, deadline }: ErpReadOptions,
    ask: (configured: ConfiguredErp) => Promise<Item | undefined>,
  ): Promise<ErpResponse<Item>> {
    const configured = await unlessUnavailable(erp());
    if (!configured) return undefined;
    const { cacheName } = configured;
    if (cacheName === undefined) return (await ask(configured)) ?? null;
    const key = `${cacheName} ${kind} ${id}`;
    if (mode !== 'fresh') {
      const content = await responses.find(key, { now: runtime.now(), keptMs: cacheMs }, ticketId);
      if (content !== undefined) return JSON.parse(content) as Item | null;
      if (mode === 'cacheOnly') return undefined;
    }
    const asked = shared(`${mode} ${key}`, async () => {
      const response = (await ask(configured)) ?? null;
      await keepResponse(key, response, response === null ? Math.min(cacheMs, shortCacheMs) : cacheMs, ticketId);
      return response;
    });
    return inTime(asked, deadline);
  }

  /** The result, or undefined if the ERP system does not respond in time. */
  async function inTime<Result>(asked: Promise<Result>, deadline: number): Promise<Result | undefined> {
    const { promise: late, resolve } = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => resolve(undefined), Math.max(0, deadline - performance.now()));
    try {
      return await Promise.race([unlessUnavailable(asked), late]);
    } finally {
      clearTimeout(timer);
      asked.catch((error: unknown) => {
        if (!isErpUnavailable(error)) log.warn({ err: error }, 'a response of the ERP system was not kept');
      });
    }
  }

  return {
    deadline: () => performance.now() + waitMs,
    customer: (id, options) => item('customer', id, options, (configured) => configured.erp.customer(id)),
    contract: (id, options) => item('contract', id, options, (configured) => configured.erp.contract(id)),
    country,
    async match(traces, deadline) {
      const configured = await unlessUnavailable(erp());
      return configured && inTime(configured.erp.match(traces), deadline);
    },
    async keep(customer, ticketId) {
      const configured = await unlessUnavailable(erp());
      if (configured?.cacheName === undefined) return;
      await keepResponse(`${configured.cacheName} customer ${customer.id}`, customer, cacheMs, ticketId);
    },
    async search(query, page) {
      const configured = await erp();
      const { cacheName } = configured;
      if (cacheName === undefined) return configured.erp.search(query, page);
      const asked = JSON.stringify([query, page]);
      const key = `${cacheName} search ${createHash('sha256').update(asked).digest('hex')}`;
      const content = await responses.find(key, { now: runtime.now(), keptMs: Math.min(cacheMs, shortCacheMs) });
      if (content !== undefined) return JSON.parse(content) as FoundCustomers;
      return shared(key, async () => {
        const found = await configured.erp.search(query, page);
        if (found.total > 0) await keepResponse(key, found, Math.min(cacheMs, shortCacheMs));
        return found;
      });
    },
  };
}

function isErpUnavailable(error: unknown): boolean {
  return error instanceof DomainError && error.reason === 'erp_unavailable';
}

async function unlessUnavailable<Result>(asked: Promise<Result>): Promise<Result | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (isErpUnavailable(error)) return undefined;
    throw error;
  }
}
