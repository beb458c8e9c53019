import { DomainError, notFound } from '@ticketing/errors/domain-error.ts';
import type { KeyedQueue } from '@ticketing/runtime/keyed-queue.ts';
import { type Runtime, secondsNow } from '@ticketing/runtime/runtime.ts';
import { isHuman, type ProfileKind } from '@ticketing/service-kit/identity/caller.ts';
import { conflict, retryOnConflict } from '@ticketing/store/document/retry-on-conflict.ts';
import { hasSameCustomer } from '../customer/identify.ts';
import { type ReadSettings, settingsKnowing } from '../settings.ts';
import { type RecordedChange, type TicketDecision, withAutoExecution } from './rules/decision.ts';
import type { TicketFieldName, TicketInput, TicketState } from './rules/fields.ts';
import { shownSubchannelId } from './rules/subchannels.ts';
import type { StoredTicket } from './store/document.ts';
import type { TicketStore } from './store/store.ts';

/** The plan of a change of a ticket. */
export interface ChangePlan {
  ticketId: number;
  /**
   * Reads the fields that follow if the change sets the customer or the contract. It is called before the decision, and
   * again if others change the customer of the ticket before the change is written.
   */
  identify?: ((ticket: TicketState) => Promise<TicketInput>) | undefined;
  /** Decides what happens to the ticket. It does no I/O, and is called again if another write came first. */
  decide(stored: StoredTicket, identified: TicketInput): TicketDecision;
  /** The request, if it may be repeated. A request that was already applied to the ticket is not applied again. */
  requestId?: string | undefined;
  /** The bulk that the change is part of. */
  bulkId?: string | undefined;
  /** The ticket, as the caller has just read it. If another write came since, it is read again. */
  read?: StoredTicket | undefined;
}

/** Writes a planned change of a ticket, and returns the ticket after it. Errors: those of `commitChange`. */
export type Commit = (plan: ChangePlan) => Promise<StoredTicket>;

export interface CommitDeps {
  tickets: Pick<TicketStore, 'find' | 'update' | 'setWorkedOn'>;
  settings: ReadSettings;
  /** Serialises the changes of a ticket in this process. Between processes, the version of the ticket detects conflicts. */
  changeQueue: KeyedQueue<number>;
  runtime: Runtime;
  /** Called when a bulk has reserved the ticket: ends the reservation, or waits a moment. The write is then tried again. */
  resolveReservation(bulkId: string, ticketId: number): Promise<void>;
}

/**
 * Writes a planned change of a ticket: one update of its document, with the event. If another write came first, or a bulk
 * has reserved the ticket, it is read and decided again. Returns the ticket after the write.
 *
 * Errors: ticket_not_found; what the plan throws; concurrent_change if too many other writes come first.
 */
export function commitChange(deps: CommitDeps, plan: ChangePlan): Promise<StoredTicket> {
  const { ticketId } = plan;
  let facts: IdentifiedCustomer | undefined;
  return retryOnConflict(deps.runtime, 'The ticket is being changed too often.', async (nth) => {
    const read = nth === 1 ? plan.read : undefined;
    if (plan.identify) facts = await identifyCustomer(deps, plan, plan.identify, read, facts);
    const outcome = await deps.changeQueue.run(ticketId, () => attemptWrite(deps, { ...plan, read }, facts));
    if ('stored' in outcome) return outcome.stored;
    if (outcome.reservedBy !== null) await deps.resolveReservation(outcome.reservedBy, ticketId);
    return conflict;
  });
}

/** The ticket as a planned change would leave it. Nothing is written. Errors: what the plan throws. */
export async function previewChange(plan: ChangePlan, stored: StoredTicket): Promise<TicketState> {
  const identified = plan.identify ? await plan.identify(stored.ticket) : {};
  return plan.decide(stored, identified).change?.after ?? stored.ticket;
}

/** Whether a request was already applied to a ticket. */
export function isApplied({ appliedRequests }: StoredTicket, requestId: string | undefined): boolean {
  return requestId !== undefined && appliedRequests.some(({ id }) => id === requestId);
}

/** Ignores the error of a write to a ticket that was deleted meanwhile. */
export function ignoreDeleted(error: unknown): void {
  if (!(error instanceof DomainError) || error.code !== 'not_found') throw error;
}

/** The fields that follow from the customer that a change sets, and the ticket for which they were read. */
interface IdentifiedCustomer {
  before: TicketState;
  input: TicketInput;
}

async function identifyCustomer(
  { tickets }: CommitDeps,
  { ticketId }: ChangePlan,
  identify: NonNullable<ChangePlan['identify']>,
  read: StoredTicket | undefined,
  known: IdentifiedCustomer | undefined,
): Promise<IdentifiedCustomer> {
  const before = (read ?? (await tickets.find(ticketId)))?.ticket;
  if (!before) throw notFound('Ticket');
  return known && hasSameCustomer(before, known.before) ? known : { before, input: await identify(before) };
}

const droppedField: TicketFieldName = 'subchannelId';

/** The ticket without its subchannel, if that was deleted. */
async function withoutDeletedSubchannel(settings: ReadSettings, stored: StoredTicket): Promise<StoredTicket> {
  const { ticket } = stored;
  const { subchannels } = await settingsKnowing(settings, [ticket.subchannelId]);
  if (shownSubchannelId(ticket, subchannels) === ticket.subchannelId) return stored;
  return { ...stored, ticket: { ...ticket, subchannelId: null } };
}

/** Adds the effects of a change on the execution of intents by the system. */
async function endAutoExecution(
  settings: ReadSettings,
  { ticket }: StoredTicket,
  change: RecordedChange,
): Promise<RecordedChange> {
  const isByPerson = isHuman({ kind: change.event.actor.kind as ProfileKind | 'service' });
  const mayEnd = change.after.autoExecuteAt !== null;
  const spamTagId = mayEnd ? (await settings()).spamDetectionTagId : null;
  return withAutoExecution(ticket, change, { isByPerson, spamTagId });
}

/** Decides on a ticket as it counts now, and adds the effects that every change has. */
export async function decideWrite(
  settings: ReadSettings,
  before: StoredTicket,
  decide: (stored: StoredTicket) => TicketDecision,
): Promise<TicketDecision> {
  const current = await withoutDeletedSubchannel(settings, before);
  const decision = decide(current);
  const change = decision.change && (await endAutoExecution(settings, current, decision.change));
  // A deleted subchannel is dropped with the next change; dropping it alone is no change.
  if (!change || current === before) return { ...decision, change };
  return { ...decision, change: { ...change, changed: [...change.changed, droppedField] } };
}

/** The ticket after the write, or why nothing was written: a bulk has reserved it, or (null) another write came first. */
type Outcome = { stored: StoredTicket } | { reservedBy: string | null };

async function attemptWrite(
  { tickets, settings, runtime }: CommitDeps,
  { ticketId, decide, requestId, bulkId, read }: ChangePlan,
  facts: IdentifiedCustomer | undefined,
): Promise<Outcome> {
  const before = read ?? (await tickets.find(ticketId));
  if (!before) throw notFound('Ticket');
  if (isApplied(before, requestId)) return { stored: before };
  if (before.reservedBy !== null && before.reservedBy !== bulkId) return { reservedBy: before.reservedBy };
  if (facts && !hasSameCustomer(before.ticket, facts.before)) return { reservedBy: null };
  const { change, workedOn, conversation } = await decideWrite(settings, before, (current) =>
    decide(current, facts?.input ?? {}),
  );
  const stored = { ...before, ...(workedOn ? { workedOn: workedOn.after } : {}) };
  if (!change) {
    if (workedOn) await tickets.setWorkedOn(ticketId, workedOn);
    return { stored };
  }
  const appliedRequest =
    requestId === undefined ? undefined : { id: requestId, at: new Date(secondsNow(runtime) * 1000) };
  const isWritten = await tickets.update({ before, change, workedOn, appliedRequest, bulkId, conversation });
  return isWritten ? { stored: { ...stored, ticket: change.after } } : { reservedBy: null };
}
