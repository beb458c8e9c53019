import type { ScopeCaller } from '../domain/skills.ts';
import type { TagTree } from '../domain/tag-tree.ts';
import type { Query } from './filter-query.ts';

/** The statuses that take a ticket out of routing. Source: specification, spamStatus rules. */
export const spamStatuses = ['auto_spam', 'auto_programmatic', 'manual_spam'];

/**
 * Restricts a list to the tickets that match a caller's skills, without spam: the query form of `hasRequiredSkills`.
 *
 * Source: specification, POST /ticket/search; decisions.md section 5.
 */
export function scopeQueries(caller: ScopeCaller, tree: TagTree, spamTagId: number | null): Query[] {
  const { tagIds, excludedTagIds, restricted } = caller.skills;
  const matches: Query = {
    $or: [{ tagIds: { $in: tagIds.filter(tree.isRoutingSkill) } }, { tagIds: { $nin: tree.routingSkillIds } }],
  };
  const permitted = restricted ? { $and: [matches, { tagIds: { $nin: excludedTagIds } }] } : matches;
  return [
    { spamStatus: { $nin: spamStatuses } },
    ...(spamTagId === null ? [] : [{ tagIds: { $ne: spamTagId } }]),
    caller.profileId === null ? permitted : { $or: [{ agentId: caller.profileId }, permitted] },
  ];
}
