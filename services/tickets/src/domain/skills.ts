import type { CallerSkills } from '@ticketing/service-kit/identity/caller.ts';

/** What the match of a ticket to an agent's skills looks at. */
export interface SkilledTicket {
  agentId: number | null;
  tagIds: readonly number[];
}

/** The caller of a scope: a profile and its skills. */
export interface ScopeCaller {
  profileId: number | null;
  skills: CallerSkills;
}

/**
 * Whether the caller has the skills for a ticket.
 *
 * What is assigned to the caller always matches. Else one of the ticket's routing-relevant skill tags must be among the
 * caller's, or there is none; a restricted caller also loses what carries an excluded tag.
 * Source: specification, POST /ticket/search; decisions.md section 5.
 */
export function hasRequiredSkills(
  ticket: SkilledTicket,
  caller: ScopeCaller,
  isRoutingSkill: (tagId: number) => boolean,
): boolean {
  if (caller.profileId !== null && ticket.agentId === caller.profileId) return true;
  const { tagIds, excludedTagIds, restricted } = caller.skills;
  if (restricted && ticket.tagIds.some((tagId) => excludedTagIds.includes(tagId))) return false;
  const needed = ticket.tagIds.filter(isRoutingSkill);
  return needed.length === 0 || needed.some((tagId) => tagIds.includes(tagId));
}
