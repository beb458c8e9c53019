/** The skill tags of an agent. */
export interface AgentSkills {
  tagIds: readonly number[];
  excludedTagIds: readonly number[];
  restricted: boolean;
}

/** The fields of a ticket that decide whether an agent has the skills for it. */
export interface SkilledTicket {
  agentId: number | null;
  tagIds: readonly number[];
}

/** The caller whose skills are compared with those of tickets. */
export interface SkilledCaller {
  profileId: number | null;
  skills: AgentSkills;
}

/**
 * Whether the caller has the skills for a ticket.
 *
 * A ticket that is assigned to the caller always matches. Any other matches if it has no routing-relevant skill tag, or
 * one that the caller has too; for a restricted caller it must also have no excluded tag.
 * Source: docs/reference/api.md, Ticket scope.
 */
export function hasRequiredSkills(
  ticket: SkilledTicket,
  caller: SkilledCaller,
  isRoutingSkill: (tagId: number) => boolean,
): boolean {
  if (caller.profileId !== null && ticket.agentId === caller.profileId) return true;
  const { tagIds, excludedTagIds, restricted } = caller.skills;
  if (restricted && ticket.tagIds.some((tagId) => excludedTagIds.includes(tagId))) return false;
  const needed = ticket.tagIds.filter(isRoutingSkill);
  return needed.length === 0 || needed.some((tagId) => tagIds.includes(tagId));
}
