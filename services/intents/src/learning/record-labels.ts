import type { TicketChanged } from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { continueTrace } from '@ticketing/runtime/trace.ts';
import { ifFound } from '@ticketing/service-kit/client/if-found.ts';
import type { Context } from '../context.ts';
import { decisionOf } from './decision-of.ts';
import type { Decision } from './rules/label.ts';

/**
 * Notes decisions about tags and spam, so that they are learned. The cleanup of deleted tags is no decision about the
 * tickets.
 *
 * Errors: store_unavailable, tags_unavailable. Source: docs/decisions/0047-decisions-as-examples.md.
 */
export async function noteDecisions(
  context: Pick<Context, 'deleted' | 'learning' | 'tags' | 'stopping'>,
  changes: readonly TicketChanged[],
): Promise<void> {
  const decisions = changes.flatMap((change) => decisionOf(change) ?? []);
  if (decisions.length === 0) return;
  const deletedTags = await deletedAmong(context, new Set(decisions.flatMap(({ onlyRemoved }) => onlyRemoved)));
  const isCleanup = ({ onlyRemoved }: Decision) =>
    onlyRemoved.length > 0 && onlyRemoved.every((id) => deletedTags.has(id));
  const noted = decisions.map((decision) => (isCleanup(decision) ? { ...decision, tags: undefined } : decision));
  const { examples } = context.learning;
  await examples.note(noted.filter(({ tags, spam, text }) => tags || spam || text));
  // The erasure of a ticket that was deleted meanwhile has not seen what was noted.
  await examples.erase([...(await context.deleted.tickets.among(decisions.map(({ ticketId }) => ticketId)))]);
  context.learning.wake();
}

/**
 * Finds the tags that do not exist any more. The event of a deletion may not have arrived yet, so the tickets service
 * is asked too.
 */
async function deletedAmong(
  { deleted, tags, stopping }: Pick<Context, 'deleted' | 'tags' | 'stopping'>,
  tagIds: ReadonlySet<number>,
): Promise<Set<number>> {
  const found = await deleted.tags.among([...tagIds]);
  const client = tags({ trace: continueTrace(undefined), signal: stopping });
  for (const id of tagIds) {
    if (found.has(id)) continue;
    const tag = await ifFound(client.getTag({ id })).catch(unavailable);
    if (!tag) found.add(id);
  }
  return found;
}

function unavailable(error: unknown): never {
  const detail = 'The tags cannot be read from the tickets service.';
  throw new DomainError('unavailable', 'tags_unavailable', detail, { cause: error });
}
