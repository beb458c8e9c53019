import type { Kit } from '@ticketing/service-kit/lifecycle/kit.ts';
import { type ErasedIds, erasedIds } from '@ticketing/store/ids/erased-ids.ts';
import { dropReferences } from './agent/delete.ts';
import type { AgentContext } from './agent/open.ts';
import type { AnalysisStore } from './detection/queue-store.ts';
import type { IntentStore } from './intent/store.ts';
import type { LearningContext } from './learning/open.ts';
import type { SessionStore } from './session/store.ts';
import { erasedCollections } from './set-up-store.ts';

const minute = 60 * 1000;
/**
 * The time for which ids of deleted objects are kept: longer than a request that names one can be repeated with its
 * key.
 */
const keptMs = 2 * 24 * 60 * minute;
/**
 * The age up to which deletions are repeated: a process that died while it saved something has not checked for them.
 */
const repeatedMs = 60 * minute;

/** The ids of deleted objects. */
export type DeletedIds = Readonly<Record<keyof typeof erasedCollections, ErasedIds>>;

/** The stores with data of tickets. */
export interface TicketStores {
  analyses: Pick<AnalysisStore, 'erase'>;
  intents: Pick<IntentStore, 'erase'>;
  sessions: Pick<SessionStore, 'erase'>;
  examples: LearningContext['examples'];
}

/** Opens the ids of deleted objects. */
export function openDeletedIds({ database, runtime }: Pick<Kit<unknown, unknown>, 'database' | 'runtime'>): DeletedIds {
  const open = (name: keyof typeof erasedCollections) =>
    erasedIds(database.connection, erasedCollections[name], runtime.now);
  return { tickets: open('tickets'), tags: open('tags'), templates: open('templates'), agents: open('agents') };
}

/** Erases what this service stores of a deleted ticket. Source: docs/reference/api.md, Deletion. */
export async function eraseTicket(stores: TicketStores, deletedTickets: ErasedIds, ticketId: number): Promise<void> {
  // First, so that a process that stores something of the ticket from now on removes it again.
  await deletedTickets.add(ticketId);
  await eraseShares(stores, [ticketId]);
}

/** Repeats the recent deletions, and forgets the ids of old ones. */
export async function repeatDeletions(
  stores: TicketStores,
  { agents, models }: Pick<AgentContext, 'agents'> & Pick<LearningContext, 'models'>,
  deleted: DeletedIds,
  now: number,
): Promise<void> {
  const since = now - repeatedMs;
  await eraseShares(stores, await deleted.tickets.since(since));
  await models.removeOld();
  const tags = await deleted.tags.since(since);
  await stores.examples.dropTags(tags);
  await dropReferences({ agents }, tags, await deleted.templates.since(since));
  for (const ids of Object.values(deleted)) await ids.removeOlderThan(now - keptMs);
}

/** Erases the analyses, intents and sessions of tickets, and the examples learned from them. */
async function eraseShares(
  { analyses, intents, sessions, examples }: TicketStores,
  ticketIds: readonly number[],
): Promise<void> {
  await analyses.erase(ticketIds);
  await intents.erase(ticketIds);
  await sessions.erase(ticketIds);
  await examples.erase(ticketIds);
}
