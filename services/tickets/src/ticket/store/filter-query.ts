import type { Condition } from '@ticketing/rest/codec/filter.ts';
import { fieldQuery, matchNothing, type Query } from '@ticketing/store/document/field-query.ts';
import { wordsQueries } from '@ticketing/store/document/words-query.ts';
import type { DefaultCountry } from '@ticketing/text/phone-number.ts';
import { readSearch } from '@ticketing/text/search-query.ts';
import type { TagTree } from '../../tag/rules.ts';
import { ticketFields } from '../rules/fields.ts';
import { activeWithinSeconds, filterKeys } from '../rules/keys.ts';
import { spamStatuses } from '../rules/spam.ts';
import type { SkilledCaller } from '../rules/worked-on.ts';
import { isNotDeleted } from './schema.ts';

/** Keys whose field of the document has another name. */
const fieldOfKey: Record<string, string> = { 't.id': '_id', 'tt.tagId': 'tagIds', 'i.aiAgentId': 'aiAgentIds' };

/** The field of the document that the conditions of a key compare. */
export function documentField(key: string): string {
  return fieldOfKey[key] ?? key.slice(key.indexOf('.') + 1);
}

/** The context of conditions that depend on one. Units: `now` in Unix seconds. */
export interface ConditionContext {
  now: number;
  /** The country whose telephone numbers are written without its code. */
  defaultCountry: DefaultCountry;
}

/**
 * Compiles conditions that were checked already. A ticket must match all of the queries.
 *
 * Source: docs/reference/api.md, Filters.
 */
export function compileConditions(
  conditions: readonly Condition[],
  { now, defaultCountry }: ConditionContext,
): Query[] {
  const searches = conditions.filter(({ key }) => key === 'q');
  const others = conditions.filter(({ key }) => key !== 'q');
  const queries = others.flatMap((condition): Query[] => {
    const key = filterKeys.get(condition.key);
    if (!key) throw new Error(`${condition.key} is not a key`);
    if (condition.key === 't.isCustomerActive') return [activeQuery(condition, now)];
    return [fieldQuery(documentField(condition.key), condition, key)];
  });
  return searches.length > 0 ? [...queries, ...searchQueries(searches, defaultCountry)] : queries;
}

const wordsFields = ['words', 'messageWords', 'noteWords'];

/** A token that this system puts into the subjects of mails, as people copy it. */
const ticketToken = /\[#(\d{1,15})-[a-z0-9]{8}\]/gi;

/** The queries of all conditions of `q` together. */
function searchQueries(conditions: readonly Condition[], defaultCountry: DefaultCountry): Query[] {
  const texts = conditions.flatMap((condition) => {
    if (condition.operator !== 'in') throw new Error('q accepts = only');
    return condition.values.map(String);
  });
  const text = texts.join(' ');
  const tickets = [...text.matchAll(ticketToken)].map(([, id]) => ({ _id: Number(id), ...isNotDeleted }));
  const terms = readSearch(text.replace(ticketToken, ' '), { defaultCountry });
  return [...tickets, ...(terms.length > 0 || tickets.length === 0 ? wordsQueries(wordsFields, terms) : [])];
}

function activeQuery(condition: Condition, now: number): Query {
  if (condition.operator !== 'in' && condition.operator !== 'notIn') throw new Error('a truth value has no order');
  const isMatch = (value: boolean) => condition.values.includes(value) === (condition.operator === 'in');
  if (isMatch(true) && isMatch(false)) return {};
  if (isMatch(true)) return customerActive(now);
  return isMatch(false) ? { $nor: [customerActive(now)] } : matchNothing;
}

/** Matches chats with a message of the customer in the last 5 minutes. Units: `now` in Unix seconds. */
export function customerActive(now: number): Query {
  return { channel: 'chat', lastCustomerMessageAt: { $gt: new Date((now - activeWithinSeconds) * 1000) } };
}

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
