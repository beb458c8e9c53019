import type { TemplateParts } from './open.ts';
import type { TemplateState } from './rules.ts';

type Stores = Pick<TemplateParts, 'templates' | 'erased'>;

/** Drops a deleted ticket from all templates. Source: docs/reference/api.md, Deletion. */
export async function eraseTicket({ templates, erased }: Stores, ticketId: number): Promise<void> {
  // First, so that a process that stores the ticket from now on drops it.
  await erased.tickets.add(ticketId);
  await templates.drop('exampleTicketIds', [ticketId]);
}

/** Drops deleted tags from all templates. Source: docs/reference/api.md, Values. */
export async function dropTags({ templates, erased }: Stores, tagIds: readonly number[]): Promise<void> {
  for (const id of tagIds) await erased.tags.add(id);
  await templates.drop('tagId', tagIds);
}

/**
 * Drops from a template that was just stored the tickets and the tag that were deleted since the request was checked.
 * Returns the template without them. If the process dies before this, `dropMissed` does it.
 */
export async function withoutDeleted({ templates, erased }: Stores, state: TemplateState): Promise<TemplateState> {
  const { tagId, exampleTicketIds } = state;
  const [tickets, tags] = await Promise.all([
    erased.tickets.among(exampleTicketIds),
    erased.tags.among(tagId === null ? [] : [tagId]),
  ]);
  await templates.drop('exampleTicketIds', [...tickets]);
  await templates.drop('tagId', [...tags]);
  return {
    ...state,
    tagId: tags.size > 0 ? null : tagId,
    exampleTicketIds: exampleTicketIds.filter((id) => !tickets.has(id)),
  };
}

/** A request that was checked before a deletion has long ended, or its process has. */
const missedMs = 60 * 60_000;
const keptMs = 24 * 60 * 60_000;

/** Drops from all templates the tickets and tags that were deleted lately, and forgets them after a day. */
export async function dropMissed({ templates, erased }: Stores, now: number): Promise<void> {
  await templates.drop('exampleTicketIds', await erased.tickets.since(now - missedMs));
  await templates.drop('tagId', await erased.tags.since(now - missedMs));
  await erased.tickets.removeOlderThan(now - keptMs);
  await erased.tags.removeOlderThan(now - keptMs);
}
