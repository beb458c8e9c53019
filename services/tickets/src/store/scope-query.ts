import type { Query } from '@ticketing/store/field-query.ts';
import type { SkilledCaller } from '../domain/skills.ts';
import { spamStatuses } from '../domain/spam.ts';
import type { TagTree } from '../domain/tag-tree.ts';
import { ticketFields } from '../domain/ticket-fields.ts';

const keptSpamStatuses = spamStatuses.map((status) => ticketFields.spamStatus.store(status));

/**
 * Restricts a list to the tickets that match a caller's skills, without spam: the query form of `hasRequiredSkills`.
 *
 * Source: specification, POST /ticket/search; decisions.md section 5.
 */
export function scopeQueries(caller: SkilledCaller, tree: TagTree, spamTagId: number | null): Query[] {
  const { tagIds, excludedTagIds, restricted } = caller.skills;
  const matches: Query = {
    $or: [{ tagIds: { $in: tagIds.filter(tree.isRoutingSkill) } }, { tagIds: { $nin: tree.routingSkillIds } }],
  };
  const permitted = restricted ? { $and: [matches, { tagIds: { $nin: excludedTagIds } }] } : matches;
  return [
    { spamStatus: { $nin: keptSpamStatuses } },
    ...runTimeSpamQueries(spamTagId),
    caller.profileId === null ? permitted : { $or: [{ agentId: caller.profileId }, permitted] },
  ];
}

/** Leaves out what a tag marks as spam at run time. Source: specification, spamStatus rules. */
export function runTimeSpamQueries(spamTagId: number | null): Query[] {
  return spamTagId === null ? [] : [{ tagIds: { $ne: spamTagId } }];
}
