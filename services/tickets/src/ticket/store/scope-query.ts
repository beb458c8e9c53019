import type { Query } from '@ticketing/store/document/field-query.ts';
import type { TagTree } from '../../tag/rules/tree.ts';
import { ticketFields } from '../rules/fields.ts';
import type { SkilledCaller } from '../rules/skills.ts';
import { spamStatuses } from '../rules/spam.ts';

const storedSpamStatuses = spamStatuses.map((status) => ticketFields.spamStatus.store(status));

/**
 * Makes the queries that restrict a list to the tickets for which a caller has the skills, as `hasRequiredSkills` says,
 * and that are not spam.
 *
 * Source: docs/reference/api.md, Ticket scope.
 */
export function scopeQueries(caller: SkilledCaller, tree: TagTree, spamTagId: number | null): Query[] {
  const { tagIds, excludedTagIds, restricted } = caller.skills;
  const matches: Query = {
    $or: [{ tagIds: { $in: tagIds.filter(tree.isRoutingSkill) } }, { tagIds: { $nin: tree.routingSkillIds } }],
  };
  const permitted = restricted ? { $and: [matches, { tagIds: { $nin: excludedTagIds } }] } : matches;
  return [
    { spamStatus: { $nin: storedSpamStatuses } },
    ...runTimeSpamQueries(spamTagId),
    caller.profileId === null ? permitted : { $or: [{ agentId: caller.profileId }, permitted] },
  ];
}

/** Excludes the tickets with the tag that marks spam at run time. Source: docs/reference/api.md, Spam. */
export function runTimeSpamQueries(spamTagId: number | null): Query[] {
  return spamTagId === null ? [] : [{ tagIds: { $ne: spamTagId } }];
}
