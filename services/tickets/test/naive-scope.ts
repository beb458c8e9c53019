import type { Caller } from '@ticketing/service-kit/identity/caller.ts';
import type { NaiveTicket } from './naive-ticket.ts';

/** The fields of a tag that the scope depends on. */
export interface NaiveTag {
  id: number;
  type: string;
  routingRelevant: boolean;
}

/** Whether a caller has the skills for a ticket, written directly from docs/reference/api.md, Ticket scope. For tests only. */
export function isSkilledFor(
  { profileId, skills }: Pick<Caller, 'profileId' | 'skills'>,
  ticket: NaiveTicket,
  tags: readonly NaiveTag[],
): boolean {
  const isAssigned = ticket.agentId !== null && ticket.agentId === profileId;
  if (isAssigned) return true;
  const carried = new Set(ticket.tagIds);
  const routing = tags.filter(
    ({ id, type, routingRelevant }) => carried.has(id) && type === 'skill' && routingRelevant,
  );
  const isMatch = routing.length === 0 || routing.some(({ id }) => skills.tagIds.includes(id));
  const isExcluded = skills.restricted && skills.excludedTagIds.some((id) => carried.has(id));
  return isMatch && !isExcluded;
}

/** Whether a ticket is spam for routing: by its status, or by the tag that marks it at run time. */
export function isSpam(ticket: NaiveTicket, spamDetectionTagId: number | null): boolean {
  if (['auto_spam', 'auto_programmatic', 'manual_spam'].includes(ticket.spamStatus ?? '')) return true;
  return spamDetectionTagId !== null && ticket.tagIds.includes(spamDetectionTagId);
}
