import {
  AiSupportLevelSchema,
  ChannelSchema,
  DirectionSchema,
  PrioritySchema,
  SpamStatusSchema,
  TicketStatusSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { enumKey, rankKey } from '@ticketing/rest/codec/enum-key.ts';
import type { Condition, FilterKey } from '@ticketing/rest/codec/filter.ts';
import { hasWords } from '@ticketing/text/search-query.ts';

const integer: FilterKey = { kind: 'integer' };
const text: FilterKey = { kind: 'text' };
const time: FilterKey = { kind: 'time' };

/** The keys by which tickets may be ordered and filtered. Source: docs/reference/api.md, Order and pages. */
export const orderKeys: ReadonlyMap<string, FilterKey> = new Map([
  ['t.id', integer],
  ['t.channel', enumKey(ChannelSchema)],
  ['t.subchannelId', integer],
  ['t.channelId', text],
  ['t.direction', enumKey(DirectionSchema)],
  ['t.status', enumKey(TicketStatusSchema)],
  ['t.priority', rankKey(PrioritySchema)],
  ['t.agentId', integer],
  ['t.customerId', text],
  ['t.contractId', text],
  ['t.partnerId', integer],
  ['t.isCustomerActive', { kind: 'boolean' }],
  ['t.aiSupportLevel', enumKey(AiSupportLevelSchema)],
  ['i.aiAgentId', { kind: 'integer', isList: true }],
  ['t.createdAt', time],
  ['t.modifiedAt', time],
  ['t.firstResponseDueBy', time],
  ['t.dueBy', time],
  ['t.lastMessageAt', time],
  ['t.lastCustomerMessageAt', time],
  ['tt.tagId', { kind: 'integer', isList: true }],
  ['t.sentiment', text],
  ['t.language', text],
  ['t.languageCode', text],
  ['t.from', text],
]);

/** The keys by which tickets may be filtered. Source: docs/reference/api.md, Filters. */
export const filterKeys: ReadonlyMap<string, FilterKey> = new Map([
  ...orderKeys,
  ['t.spamStatus', enumKey(SpamStatusSchema)],
  ['t.externalTicketId', text],
  ['t.subject', text],
  ['t.summary', text],
  ['t.callerNumber', text],
  ['t.closedAt', time],
  ['t.createdBy', integer],
  ['q', { kind: 'words', hasWords }],
]);

/**
 * Whether a condition never matches a document without the fields of a ticket. Otherwise it matches all of them; only
 * those of t.id, which every document has, and t.isCustomerActive may match some or none.
 */
export function requiresValue(condition: Condition): boolean {
  if (condition.key === 't.id' || condition.key === 't.isCustomerActive') return false;
  // A list that is empty is not the same as one that a document does not have.
  if (filterKeys.get(condition.key)?.isList) return condition.operator !== 'notIn';
  return !(condition.operator === 'in' || condition.operator === 'notIn') || !condition.orUnset;
}

/**
 * How long a customer of a chat counts as active after a message. Units: seconds.
 *
 * Source: docs/reference/api.md, Ticket fields.
 */
export const activeWithinSeconds = 300;
