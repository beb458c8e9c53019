import { setTimeout } from 'node:timers/promises';
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  type UpdateTicketsRequest,
  UpdateTicketsRequestSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { traceparentOf } from '@ticketing/runtime/trace.ts';
import type { Caller } from '@ticketing/service-kit/identity/caller.ts';
import { staleVersion } from '@ticketing/service-kit/server/if-match.ts';
import { whileRenewing } from '@ticketing/store/lease.ts';
import type { Bulk } from '../store/bulk-store.ts';
import { applyPatch } from './apply-patch.ts';
import type { BulkCall, Bulks, Context } from './context.ts';
import { readBulkElement } from './read-patch.ts';
import { ignoreDeleted } from './write-ticket.ts';

const waitMs = 20;
const renewMs = 2000;
const atOnce = 8;

/** Opens the bulks. */
export function openBulks(context: Omit<Context, 'bulks'>): Bulks {
  const bulks: Bulks = { run, settle, finishAbandoned };
  const whole: Context = { ...context, bulks };
  const store = context.bulkStore;

  async function run(id: string, request: UpdateTicketsRequest, { caller, trace }: BulkCall): Promise<void> {
    const mustReserve = request.tickets.some(({ version }) => version !== undefined);
    const state = mustReserve ? 'reserving' : 'applying';
    const given = {
      id,
      state,
      request: toBinary(UpdateTicketsRequestSchema, request),
      caller: JSON.stringify(caller),
      traceparent: traceparentOf(trace),
    } as const;
    const bulk = await store.insert(given);
    if (!bulk) return resume(id);
    if (mustReserve) await whileHeld(bulk, () => reserve(bulk, request));
    await apply(bulk);
  }

  /** A request that came before, and whose process has died. */
  async function resume(id: string): Promise<void> {
    for (;;) {
      const bulk = await store.find(id);
      if (!bulk) throw new DomainError('aborted', 'concurrent_change', 'The changes were given up.');
      if (bulk.state === 'applied') return;
      await finishIfAbandoned(id);
    }
  }

  /** In the order of the ids, so that two bulks never wait for each other. */
  async function reserve(bulk: Bulk, request: UpdateTicketsRequest): Promise<void> {
    const wanted = [...request.tickets].sort((left, right) => (left.id ?? 0) - (right.id ?? 0));
    for (const { id = 0, version } of wanted) {
      for (;;) {
        const outcome = await context.reservations.reserve(id, version, bulk.id);
        if (outcome === 'reserved') break;
        if (outcome === 'moved_on') {
          await giveUp(bulk);
          throw staleVersion(`Ticket ${id} has moved on; nothing was changed.`);
        }
        const other = (await context.tickets.find(id))?.reservedBy;
        if (other) await settle(other, id);
      }
    }
  }

  async function giveUp(bulk: Bulk): Promise<void> {
    const { tickets } = fromBinary(UpdateTicketsRequestSchema, bulk.request);
    await context.reservations.release(
      tickets.map(({ id = 0 }) => id),
      bulk.id,
    );
    await store.remove(bulk);
  }

  async function apply(bulk: Bulk): Promise<void> {
    if (!(await store.startApplying(bulk))) return resume(bulk.id);
    const request = fromBinary(UpdateTicketsRequestSchema, bulk.request);
    const caller = JSON.parse(bulk.caller) as Caller;
    const patchRequest = {
      caller,
      traceparent: bulk.traceparent,
      now: context.now(),
      includeInWorklog: request.includeInWorklog ?? true,
    };
    await whileHeld(bulk, async () => {
      const left = request.tickets.values();
      const applyNext = async () => {
        for (const change of left) {
          const { patch, refreshMode } = readBulkElement(change);
          if (refreshMode !== undefined) continue;
          const options = { requestId: bulk.id, bulkId: bulk.id };
          await applyPatch(whole, change.id ?? 0, patch, patchRequest, options).catch(ignoreDeleted);
        }
      };
      await Promise.all(Array.from({ length: atOnce }, applyNext));
      // Before the tickets are let go: whoever took over afterwards would decide on what others have written since.
      await store.finish(bulk);
      await context.reservations.release(
        request.tickets.map(({ id = 0 }) => id),
        bulk.id,
      );
    });
  }

  function whileHeld(bulk: Bulk, work: () => Promise<void>): Promise<void> {
    return whileRenewing(() => store.renew(bulk), renewMs, work);
  }

  async function settle(id: string, ticketId: number): Promise<void> {
    const bulk = await store.find(id);
    // Given up while it was still reserving, or applied: what it has left reserved is free.
    if (!bulk || bulk.state === 'applied') await context.reservations.release([ticketId], id);
    else await finishIfAbandoned(id);
  }

  async function finishIfAbandoned(id: string): Promise<void> {
    const bulk = await store.takeOver(id);
    if (!bulk) await setTimeout(waitMs);
    else await (bulk.state === 'reserving' ? giveUp(bulk) : apply(bulk));
  }

  async function finishAbandoned(): Promise<void> {
    for (const id of await store.abandoned()) await finishIfAbandoned(id);
  }

  return bulks;
}
