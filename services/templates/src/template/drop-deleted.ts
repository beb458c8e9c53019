import type { Context } from '../context.ts';
import type { TemplateState } from './rules.ts';

type Stores = Pick<Context, 'templates' | 'erasedTickets' | 'deletedTags'>;

/** Drops a deleted ticket from all templates. Source: docs/reference/api.md, Deletion. */
export async function eraseTicket({ templates, erasedTickets }: Stores, ticketId: number): Promise<void> {
  // First, so that a process that stores the ticket from now on drops it.
  await erasedTickets.add(ticketId);
  await templates.drop('exampleTicketIds', [ticketId]);
}

/** Drops deleted tags from all templates. Source: docs/reference/api.md, Values. */
export async function dropTags({ templates, deletedTags }: Stores, tagIds: readonly number[]): Promise<void> {
  for (const id of tagIds) await deletedTags.add(id);
  await templates.drop('tagId', tagIds);
}

/**
 * Drops from a template that was just stored the tickets and the tag that were deleted since the request was checked.
 * Returns the template without them. If the process dies before this, `dropMissed` does it.
 */
export async function withoutDeleted(
  { templates, erasedTickets, deletedTags }: Stores,
  state: TemplateState,
): Promise<TemplateState> {
  const { tagId, exampleTicketIds } = state;
  const [tickets, tags] = await Promise.all([
    erasedTickets.among(exampleTicketIds),
    deletedTags.among(tagId === null ? [] : [tagId]),
  ]);
  await templates.drop('exampleTicketIds', [...tickets]);
  await templates.drop('tagId', [...tags]);
  return {
    ...state,
    tagId: tags.size > 0 ? null : tagId,
    exampleTicketIds: exampleTicketIds.filter((id) => !tickets.has(id)),
  };
}

/** Drops from all templates the tickets and tags that were deleted since a time. Units: Unix ms. */
export async function dropMissed({ templates, erasedTickets, deletedTags }: Stores, since: number): Promise<void> {
  await templates.drop('exampleTicketIds', await erasedTickets.since(since));
  await templates.drop('tagId', await deletedTags.since(since));
}
