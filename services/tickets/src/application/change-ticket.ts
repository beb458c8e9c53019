import { setTimeout } from 'node:timers/promises';
import { DomainError, notFound } from '@ticketing/errors/domain-error.ts';
import type { StoredTicket, TicketWrite, WorkedOn } from '../store/ticket-store.ts';
import type { Context } from './context.ts';

/** What is to happen to a ticket as it stands: its next version, who works on it, both, or nothing. */
export interface Decision {
  write?: Pick<TicketWrite, 'after' | 'changed' | 'event' | 'worklogEntry'> | undefined;
  workedOn?: Omit<WorkedOn, 'forgotten'> | undefined;
}

/** How a change is made. */
export interface ChangeOptions {
  /** The request, if it may come again: what it has done already is not done twice. */
  requestId?: string | undefined;
  /** The bulk that the change belongs to. */
  bulkId?: string | undefined;
}

/** Who was seen on a ticket is shown for this long. */
export const workedOnWithinSeconds = 3600;

const maxWorkedOn = 100;
const maxAttempts = 1000;
const eagerAttempts = 10;
const pauseMs = 20;

/**
 * Changes a ticket, whatever else changes it: what another has written first is read, and decided upon anew. Answers
 * the ticket as it stands then.
 *
 * Errors: ticket_not_found; what `decide` throws; concurrent_change if the ticket does not come to rest.
 */
export async function changeTicket(
  context: Context,
  id: number,
  decide: (stored: StoredTicket) => Decision,
  options: ChangeOptions = {},
): Promise<StoredTicket> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const outcome = await context.ticketQueue.run(id, () => attemptChange(context, id, decide, options));
    if ('stored' in outcome) return outcome.stored;
    if (outcome.reservedBy !== null) await context.bulks.settle(outcome.reservedBy, id);
    if (attempt > eagerAttempts) await setTimeout(Math.random() * pauseMs);
  }
  throw new DomainError('aborted', 'concurrent_change', 'The ticket is being changed too often.');
}

/** A ticket that was deleted meanwhile has nothing to change. */
export function passOverDeleted(error: unknown): void {
  if (!(error instanceof DomainError) || error.code !== 'not_found') throw error;
}

type Outcome = { stored: StoredTicket } | { reservedBy: string | null };

async function attemptChange(
  context: Context,
  id: number,
  decide: (stored: StoredTicket) => Decision,
  { requestId, bulkId }: ChangeOptions,
): Promise<Outcome> {
  const before = await context.tickets.find(id);
  if (!before) throw notFound('Ticket');
  if (requestId !== undefined && before.appliedRequests.some((effect) => effect.id === requestId))
    return { stored: before };
  if (before.reservedBy !== null && before.reservedBy !== bulkId) return { reservedBy: before.reservedBy };
  const { write, workedOn: decided } = decide(before);
  const workedOn = decided && { ...decided, forgotten: forgottenOf(before.workedOn, context.now()) };
  const stored = { ...before, ...(workedOn ? { workedOn: withWorkedOn(before.workedOn, workedOn) } : {}) };
  if (!write) {
    if (workedOn) await context.tickets.setWorkedOn(id, workedOn);
    return { stored };
  }
  const appliedRequest = requestId === undefined ? undefined : { id: requestId, at: new Date(context.now() * 1000) };
  const isWritten = await context.tickets.update({ ...write, before, workedOn, appliedRequest, bulkId });
  return isWritten ? { stored: { ...stored, ticket: write.after } } : { reservedBy: null };
}

/** Who was on a ticket too long ago to be shown, and the oldest of too many. */
function forgottenOf(workedOn: StoredTicket['workedOn'], now: number): number[] {
  const newestFirst = workedOn.toSorted((left, right) => right.at - left.at);
  return newestFirst
    .filter(({ at }, index) => at <= now - workedOnWithinSeconds || index >= maxWorkedOn - 1)
    .map(({ profileId }) => profileId);
}

function withWorkedOn(
  workedOn: StoredTicket['workedOn'],
  { profileId, at, forgotten }: WorkedOn,
): StoredTicket['workedOn'] {
  const others = workedOn.filter((one) => one.profileId !== profileId && !forgotten.includes(one.profileId));
  return at === null ? others : [...others, { profileId, at: at.getTime() / 1000 }];
}
