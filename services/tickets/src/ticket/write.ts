import { setTimeout } from 'node:timers/promises';
import { DomainError, notFound } from '@ticketing/errors/domain-error.ts';
import { isHuman, type ProfileKind } from '@ticketing/service-kit/identity/caller.ts';
import type { Context } from '../context.ts';
import { settingsKnowing } from '../settings-knowing.ts';
import { withAutoExecution } from './rules/auto-execution.ts';
import type { RecordedChange, TicketDecision } from './rules/decision.ts';
import type { TicketFieldName } from './rules/fields.ts';
import { shownSubchannelId } from './rules/subchannels.ts';
import type { StoredTicket } from './store/stored-ticket.ts';

/** Decides what happens to a ticket. It is called again if the ticket was changed before its decision was written. */
export type DecideTicket = (stored: StoredTicket) => TicketDecision;

/** The request or bulk that writes a ticket. */
export interface WriteOptions {
  /** The request, if it may be repeated. A request that was already applied to the ticket is not applied again. */
  requestId?: string | undefined;
  /** The bulk that the write is part of. */
  bulkId?: string | undefined;
  /** The ticket, as the caller has just read it. If another write came since, it is read again. */
  read?: StoredTicket | undefined;
}

const maxAttempts = 1000;
/** After this many attempts, each further one waits for a random time first. */
const attemptsWithoutPause = 10;
const maxPauseMs = 20;

/**
 * Reads a ticket, decides and writes. If another write came first, or a bulk has reserved the ticket, it does so again.
 * Returns the ticket after the write.
 *
 * Errors: ticket_not_found; what `decide` throws; concurrent_change if too many other writes come first.
 */
export async function writeTicket(
  context: Context,
  id: number,
  decide: DecideTicket,
  options: WriteOptions = {},
): Promise<StoredTicket> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const read = attempt === 0 ? options.read : undefined;
    const outcome = await context.changeQueue.run(id, () => attemptWrite(context, id, decide, { ...options, read }));
    if ('stored' in outcome) return outcome.stored;
    if (outcome.reservedBy !== null) await context.bulks.resolveReservation(outcome.reservedBy, id);
    if (attempt > attemptsWithoutPause) await setTimeout(context.runtime.random() * maxPauseMs);
  }
  throw new DomainError('aborted', 'concurrent_change', 'The ticket is being changed too often.');
}

/** Ignores the error of a write to a ticket that was deleted meanwhile. */
export function ignoreDeleted(error: unknown): void {
  if (!(error instanceof DomainError) || error.code !== 'not_found') throw error;
}

const droppedField: TicketFieldName = 'subchannelId';

/** The ticket without its subchannel, if that was deleted. */
async function withoutDeletedSubchannel(context: Context, stored: StoredTicket): Promise<StoredTicket> {
  const { ticket } = stored;
  const { subchannels } = await settingsKnowing(context, [ticket.subchannelId]);
  if (shownSubchannelId(ticket, subchannels) === ticket.subchannelId) return stored;
  return { ...stored, ticket: { ...ticket, subchannelId: null } };
}

/** Adds the effects of a change on the execution of intents by the system. */
async function endedAutoExecution(
  context: Context,
  { ticket }: StoredTicket,
  change: RecordedChange,
): Promise<RecordedChange> {
  const isByPerson = isHuman({ kind: change.event.actor.kind as ProfileKind | 'service' });
  const mayEnd = change.after.autoExecuteAt !== null;
  const spamTagId = mayEnd ? (await context.settings()).spamDetectionTagId : null;
  return withAutoExecution(ticket, change, { isByPerson, spamTagId });
}

/**
 * The ticket after the write, or why nothing was written: a bulk has reserved it, or (null) another write came first.
 */
type Outcome = { stored: StoredTicket } | { reservedBy: string | null };

async function attemptWrite(
  context: Context,
  id: number,
  decide: DecideTicket,
  { requestId, bulkId, read }: WriteOptions,
): Promise<Outcome> {
  const before = read ?? (await context.tickets.find(id));
  if (!before) throw notFound('Ticket');
  if (requestId !== undefined && before.appliedRequests.some((request) => request.id === requestId))
    return { stored: before };
  if (before.reservedBy !== null && before.reservedBy !== bulkId) return { reservedBy: before.reservedBy };
  const current = await withoutDeletedSubchannel(context, before);
  const decision = decide(current);
  const { workedOn, conversation } = decision;
  const decided = decision.change && (await endedAutoExecution(context, current, decision.change));
  // A deleted subchannel is dropped with the next change; dropping it alone is no change.
  const change = decided && current !== before ? { ...decided, changed: [...decided.changed, droppedField] } : decided;
  const stored = { ...before, ...(workedOn ? { workedOn: workedOn.after } : {}) };
  if (!change) {
    if (workedOn) await context.tickets.setWorkedOn(id, workedOn);
    return { stored };
  }
  const appliedRequest = requestId === undefined ? undefined : { id: requestId, at: new Date(context.now() * 1000) };
  const isWritten = await context.tickets.update({
    before,
    change,
    workedOn,
    appliedRequest,
    bulkId,
    conversation,
  });
  return isWritten ? { stored: { ...stored, ticket: change.after } } : { reservedBy: null };
}
