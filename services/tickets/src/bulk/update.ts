import { setTimeout } from 'node:timers/promises';
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  type UpdateTicketsRequest,
  UpdateTicketsRequestSchema,
  type UpdateTicketsResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { mapInParallel } from '@ticketing/runtime/map-in-parallel.ts';
import { type Runtime, secondsNow } from '@ticketing/runtime/runtime.ts';
import { renderTraceparent } from '@ticketing/runtime/trace.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { staleVersion } from '@ticketing/service-kit/call/if-match.ts';
import type { Caller } from '@ticketing/service-kit/identity/caller.ts';
import { whileRenewing } from '@ticketing/store/leases/lease.ts';
import type { CustomerDirectory } from '../customer/directory.ts';
import { type CheckDeps, requireValidChanges } from '../ticket/checks.ts';
import { type CommitDeps, commitChange, ignoreDeleted } from '../ticket/commit.ts';
import { planPatch, readBulkElement, slaRulesWith } from '../ticket/patch.ts';
import type { TicketStore } from '../ticket/store/store.ts';
import type { Bulk, BulkStore, ReservationStore } from './store.ts';

interface UpdateTicketsDeps extends CheckDeps {
  tickets: Pick<TicketStore, 'versions'>;
  bulks: Bulks;
  /** Requests new analyses of tickets. */
  requestAnalyses(requests: readonly { ticketId: number; mode: string }[]): Promise<void>;
  runtime: Runtime;
}

/**
 * Changes several tickets, all of them or none: everything is checked first, then the bulk is recorded, then applied;
 * if this process dies, another applies it. An element with a refresh flag changes nothing, but requests a new
 * analysis.
 *
 * Errors: ticket_not_found, if nothing else is wrong; duplicate_ticket, unknown_ticket, unknown_tag, unknown_subchannel, subchannel_disabled, conflicting_tags,
 * not_allowed, each with a pointer; stale_version, if an element names a version that its ticket no longer has.
 * Source: docs/reference/api.md, Bulk changes.
 */
export async function updateTickets(
  deps: UpdateTicketsDeps,
  call: Call,
  request: UpdateTicketsRequest,
): Promise<UpdateTicketsResponse> {
  const elements = request.tickets.map((change, index) => ({
    ...readBulkElement(change),
    change,
    pointer: `#/tickets/${index}`,
  }));
  const { idempotency } = call;
  // A recorded bulk is not checked again: it would be refused although it is being applied.
  const isRecorded = idempotency !== undefined && (await deps.bulks.isRecorded(idempotency.id));
  if (!isRecorded) await requireValidChanges(deps, elements);
  const analysisRequests = elements.flatMap(({ change, refreshMode: mode }) =>
    mode === undefined ? [] : [{ ticketId: change.id ?? 0, mode }],
  );
  if (analysisRequests.length < request.tickets.length)
    await deps.bulks.run(idempotency?.id ?? deps.runtime.randomUUID(), request, call);
  await deps.requestAnalyses(analysisRequests);
  return { $typeName: 'ticketing.tickets.v1.UpdateTicketsResponse', success: true };
}

const waitMs = 20;
const renewEveryMs = 2000;
const concurrency = 8;

/** The caller and the trace of the request for a bulk. */
type BulkCall = Pick<Call, 'caller' | 'trace'>;

/** Applies bulks, including those of processes that have died. */
export interface Bulks {
  /**
   * Records a validated bulk, reserves its tickets if it expects versions, and applies it. An id that is already recorded
   * belongs to a repeated request, whose bulk is completed.
   *
   * Errors: stale_version; concurrent_change, if another process has cancelled the bulk. Nothing is applied then.
   */
  run(id: string, request: UpdateTicketsRequest, call: BulkCall): Promise<void>;
  isRecorded(id: string): Promise<boolean>;
  /**
   * Called when the ticket is reserved by a bulk: releases the reservation if the bulk has ended, finishes the bulk if its
   * process has died, and waits a moment otherwise. The caller then tries again.
   */
  resolveReservation(id: string, ticketId: number): Promise<void>;
  /** Finishes the bulks whose processes have died. */
  finishAbandoned(): Promise<void>;
}

interface BulkDeps extends CheckDeps {
  store: BulkStore;
  reservations: ReservationStore;
  customers: CustomerDirectory;
  /** The dependencies of the writes of tickets, apart from the end of reservations, which is work of bulks. */
  writes: Omit<CommitDeps, 'resolveReservation'>;
}

export function openBulks({ store, reservations, tags, settings, customers, writes }: BulkDeps): Bulks {
  const { tickets, runtime } = writes;

  async function run(id: string, request: UpdateTicketsRequest, { caller, trace }: BulkCall): Promise<void> {
    const mustReserve = request.tickets.some(({ version }) => version !== undefined);
    const state = mustReserve ? 'reserving' : 'applying';
    const bulkToInsert = {
      id,
      state,
      request: toBinary(UpdateTicketsRequestSchema, request),
      caller: JSON.stringify(caller),
      traceparent: renderTraceparent(trace),
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
        const outcome = await reservations.reserve(id, version, bulk.id);
        if (outcome === 'reserved') break;
        if (outcome === 'stale') {
          await cancel(bulk);
          throw staleVersion(`Ticket ${id} does not have the expected version; nothing was changed.`);
        }
        const other = (await tickets.find(id))?.reservedBy;
        if (other) await resolveReservation(other, id);
      }
    }
  }

  /** Releases the reservations of a bulk that is not applied, and removes it. */
  async function cancel(bulk: Bulk): Promise<void> {
    const { tickets } = fromBinary(UpdateTicketsRequestSchema, bulk.request);
    await reservations.release(
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
      now: secondsNow(runtime),
      includeInWorklog: request.includeInWorklog ?? true,
      sla: await slaRulesWith({ settings }, await tags.tree()),
    };
    await whileRenewingLease(bulk, async () => {
      await mapInParallel(request.tickets, concurrency, async (change) => {
        const { patch, refreshMode } = readBulkElement(change);
        if (refreshMode !== undefined) return;
        const plan = planPatch({ customers, runtime }, change.id ?? 0, patch, patchRequest);
        const ofBulk = { ...plan, requestId: bulk.id, bulkId: bulk.id };
        await commitChange({ ...writes, resolveReservation }, ofBulk).catch(ignoreDeleted);
      });
      // Finished before the tickets are released: a process that took the bulk over after the release would apply it to
      // tickets that others have changed since.
      await store.finish(bulk);
      await reservations.release(
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
    if (!bulk || bulk.state === 'applied') await reservations.release([ticketId], id);
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

  const isRecorded = async (id: string) => (await store.find(id)) !== undefined;
  return { run, isRecorded, resolveReservation, finishAbandoned };
}
