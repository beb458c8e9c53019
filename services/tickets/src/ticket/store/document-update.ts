import { outboxPush } from '@ticketing/events/outbox/outbox.ts';
import type { Query } from '@ticketing/store/document/field-query.ts';
import type { ConversationStep, RecordedChange } from '../rules/decision.ts';
import type { WorkedOnChange } from '../rules/worked-on.ts';
import { changedDocument } from './document.ts';
import type { AppliedRequest } from './schema.ts';
import type { StoredTicket } from './stored-ticket.ts';

/** A change of a ticket, with all that is stored in the same write. */
export interface TicketUpdate {
  before: StoredTicket;
  change: RecordedChange;
  workedOn?: WorkedOnChange | undefined;
  /** The request that makes the change, if it may be repeated. */
  appliedRequest?: AppliedRequest | undefined;
  /** The message that becomes part of the ticket with the change, or no longer is. */
  conversation?: ConversationStep | undefined;
  /** The bulk that makes the change; its reservation of the ticket ends with it. */
  bulkId?: string | undefined;
}

const keptAppliedRequests = 1000;
const keptAppliedRequestsMs = 24 * 60 * 60 * 1000;
const keptWorklogEntries = 1000;

/** The update of the document that makes a change. `words` are the search words, if they change. */
export function documentUpdate(
  { before, change, workedOn, appliedRequest, bulkId, conversation = {} }: TicketUpdate,
  words: string[] | undefined,
): Query {
  const { after, changed, event, worklogEntry } = change;
  const { $push, $min } = outboxPush(event);
  const { $set: workedOnSet = {}, $unset = undefined } = workedOn ? workedOnUpdate(workedOn) : {};
  const worklogDocument = worklogEntry && { ...worklogEntry, at: new Date(worklogEntry.at * 1000) };
  return {
    $set: {
      ...changedDocument(after, changed),
      ...(words ? { words } : {}),
      ...workedOnSet,
      ...(appliedRequest ? { appliedRequests: withAppliedRequest(before.appliedRequests, appliedRequest) } : {}),
      ...(bulkId === undefined ? {} : { reservedBy: null }),
    },
    ...($unset ? { $unset } : {}),
    ...(worklogDocument ? { $inc: { manualWorkEntries: 1 } } : {}),
    $min,
    ...pullMessage(conversation),
    $push: {
      ...$push,
      ...pushMessage(conversation),
      ...(worklogDocument ? { worklog: { $each: [worklogDocument], $slice: -keptWorklogEntries } } : {}),
    },
  };
}

function pushMessage({ added, published }: ConversationStep): Query {
  const id = added ?? published;
  return id === undefined ? {} : { conversationIds: id };
}

function pullMessage({ published, removed }: ConversationStep): Query {
  if (published !== undefined) return { $pull: { draftIds: published } };
  return removed === undefined ? {} : { $pull: { conversationIds: removed } };
}

/** The update of the document that changes who works on a ticket. */
export function workedOnUpdate({ added, removedIds }: WorkedOnChange): { $set?: Query; $unset?: Query } {
  const path = (id: number) => `workedOn.${id}`;
  return {
    ...(added ? { $set: { [path(added.profileId)]: new Date(added.at * 1000) } } : {}),
    ...(removedIds.length === 0 ? {} : { $unset: Object.fromEntries(removedIds.map((id) => [path(id), 1])) }),
  };
}

/**
 * The requests that were applied within the last day, with one added. The list can be written as a whole, because the
 * update requires the version that was read.
 */
function withAppliedRequest(earlier: readonly AppliedRequest[], request: AppliedRequest): AppliedRequest[] {
  const since = request.at.getTime() - keptAppliedRequestsMs;
  return [...earlier.filter(({ at }) => at.getTime() > since), request].slice(-keptAppliedRequests);
}
