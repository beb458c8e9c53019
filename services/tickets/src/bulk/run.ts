import { setTimeout } from 'node:timers/promises';
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  type UpdateTicketsRequest,
  UpdateTicketsRequestSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { traceparentOf } from '@ticketing/runtime/trace.ts';
import { staleVersion } from '@ticketing/service-kit/call/if-match.ts';
import type { Caller } from '@ticketing/service-kit/identity/caller.ts';
import { whileRenewing } from '@ticketing/store/leases/lease.ts';
import type { BulkCall, Bulks, Context } from '../context.ts';
import { applyPatch } from '../ticket/apply-patch.ts';
import { readBulkElement } from '../ticket/read-patch.ts';
import { slaRulesOf } from '../ticket/read-sla.ts';
import { ignoreDeleted } from '../ticket/write.ts';
import type { Bulk } from './store.ts';

const waitMs = 20;
const renewEveryMs = 2000;
const concurrency = 8;

/** Creates the `bulks` of a context from the rest of the context. */
export function openBulks(context: Omit<Context, 'bulks'>): Bulks {
  const bulks: Bulks = { run, resolveReservation, finishAbandoned };
  const fullContext: Context = { ...context, bulks };
  const store = context.bulkStore;

  async function run(id: string, request: UpdateTicketsRequest, { caller, trace }: BulkCall): Promise<void> {
    const mustReserve = request.tickets.some(({ version }) => version !== undefined);
    const state = mustReserve ? 'reserving' : 'applying';
    const bulkToInsert = {
      id,
      state,
      request: toBinary(UpdateTicketsRequestSchema, request),
      caller: JSON.stringify(caller),
      traceparent: traceparentOf(trace),
    } as const;
    const bulk = await store.insert(bulkToInsert);
    if (!bulk) return waitUntilApplied(id);
    if (mustReserve) await whileRenewingLease(bulk, () => reserve(bulk, request));
    await apply(bulk);
  }

  /** Waits until a recorded bulk is applied, and applies it here if its process has died. */
  async function waitUntilApplied(id: string): Promise<void> {
    for (;;) {
      const bulk = await store.find(id);
      if (!bulk) {
        throw new DomainError('aborted', 'concurrent_change', 'The changes were cancelled; nothing was changed.');
      }
      if (bulk.state === 'applied') return;
      await finishIfAbandoned(id);
    }
  }

  /** Reserves the tickets in the order of their ids, so that two bulks never wait for each other. */
  async function reserve(bulk: Bulk, request: UpdateTicketsRequest): Promise<void> {
    const changes = [...request.tickets].sort((left, right) => (left.id ?? 0) - (right.id ?? 0));
    for (const { id = 0, version } of changes) {
      for (;;) {
        const outcome = await context.reservations.reserve(id, version, bulk.id);
        if (outcome === 'reserved') break;
        if (outcome === 'stale') {
          await cancel(bulk);
          throw staleVersion(`Ticket ${id} does not have the expected version; nothing was changed.`);
        }
        const other = (await context.tickets.find(id))?.reservedBy;
        if (other) await resolveReservation(other, id);
      }
    }
  }

  /** Releases the reservations of a bulk that is not applied, and removes it. */
  async function cancel(bulk: Bulk): Promise<void> {
    const { tickets } = fromBinary(UpdateTicketsRequestSchema, bulk.request);
    await context.reservations.release(
      tickets.map(({ id = 0 }) => id),
      bulk.id,
    );
    await store.remove(bulk);
  }

  async function apply(bulk: Bulk): Promise<void> {
    if (!(await store.startApplying(bulk))) return waitUntilApplied(bulk.id);
    const request = fromBinary(UpdateTicketsRequestSchema, bulk.request);
    const caller = JSON.parse(bulk.caller) as Caller;
    const patchRequest = {
      caller,
      traceparent: bulk.traceparent,
      now: context.now(),
      includeInWorklog: request.includeInWorklog ?? true,
      sla: await slaRulesOf(context, await context.tags.tree()),
    };
    await whileRenewingLease(bulk, async () => {
      // One iterator for all workers: each takes the next change from it.
      const remaining = request.tickets.values();
      const applyRemaining = async () => {
        for (const change of remaining) {
          const { patch, refreshMode } = readBulkElement(change);
          if (refreshMode !== undefined) continue;
          const options = { requestId: bulk.id, bulkId: bulk.id };
          await applyPatch(fullContext, change.id ?? 0, patch, patchRequest, options).catch(ignoreDeleted);
        }
      };
      await Promise.all(Array.from({ length: concurrency }, applyRemaining));
      // Finished before the tickets are released: a process that took the bulk over after the release would apply it to
      // tickets that others have changed since.
      await store.finish(bulk);
      await context.reservations.release(
        request.tickets.map(({ id = 0 }) => id),
        bulk.id,
      );
    });
  }

  function whileRenewingLease(bulk: Bulk, work: () => Promise<void>): Promise<void> {
    return whileRenewing(() => store.renew(bulk), renewEveryMs, work);
  }

  async function resolveReservation(id: string, ticketId: number): Promise<void> {
    const bulk = await store.find(id);
    // The bulk was cancelled or applied, so its reservation is left over and can be released.
    if (!bulk || bulk.state === 'applied') await context.reservations.release([ticketId], id);
    else await finishIfAbandoned(id);
  }

  async function finishIfAbandoned(id: string): Promise<void> {
    const bulk = await store.takeOver(id);
    if (!bulk) await setTimeout(waitMs);
    else await (bulk.state === 'reserving' ? cancel(bulk) : apply(bulk));
  }

  async function finishAbandoned(): Promise<void> {
    for (const id of await store.abandoned()) await finishIfAbandoned(id);
  }

  return bulks;
}
