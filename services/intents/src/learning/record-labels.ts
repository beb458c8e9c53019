import { type JsonValue, toJson } from '@bufbuild/protobuf';
import { type Value, ValueSchema } from '@bufbuild/protobuf/wkt';
import {
  ChangeCause,
  type TicketChanged,
  TicketChangeType,
} from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { continueTrace } from '@ticketing/runtime/trace.ts';
import { ifFound } from '@ticketing/service-kit/client/if-found.ts';
import { isHuman, type ProfileKind } from '@ticketing/service-kit/identity/caller.ts';
import type { Context } from '../context.ts';
import type { Decision } from './rules/label.ts';

/**
 * Notes decisions about tags and spam, so that they are learned. The cleanup of deleted tags is no decision about the
 * tickets.
 *
 * Errors: store_unavailable, tags_unavailable. Source: docs/decisions/0047-decisions-as-examples.md.
 */
export async function noteDecisions(
  context: Pick<Context, 'deleted' | 'learning' | 'tags' | 'stopping'>,
  changes: readonly TicketChanged[],
): Promise<void> {
  const decisions = changes.flatMap((change) => decisionOf(change) ?? []);
  if (decisions.length === 0) return;
  const deletedTags = await deletedAmong(context, new Set(decisions.flatMap(({ onlyRemoved }) => onlyRemoved)));
  const isCleanup = ({ onlyRemoved }: Decision) =>
    onlyRemoved.length > 0 && onlyRemoved.every((id) => deletedTags.has(id));
  const noted = decisions.map((decision) => (isCleanup(decision) ? { ...decision, tags: undefined } : decision));
  const { examples } = context.learning;
  await examples.note(noted.filter(({ tags, spam, text }) => tags || spam || text));
  // The erasure of a ticket that was deleted meanwhile has not seen what was noted.
  await examples.erase([...(await context.deleted.tickets.among(decisions.map(({ ticketId }) => ticketId)))]);
  context.learning.wake();
}

/**
 * Finds the tags that do not exist any more. The event of a deletion may not have arrived yet, so the tickets service
 * is asked too.
 */
async function deletedAmong(
  { deleted, tags, stopping }: Pick<Context, 'deleted' | 'tags' | 'stopping'>,
  tagIds: ReadonlySet<number>,
): Promise<Set<number>> {
  const found = await deleted.tags.among([...tagIds]);
  const client = tags({ trace: continueTrace(undefined), signal: stopping });
  for (const id of tagIds) {
    if (found.has(id)) continue;
    const tag = await ifFound(client.getTag({ id })).catch(unavailable);
    if (!tag) found.add(id);
  }
  return found;
}

function unavailable(error: unknown): never {
  const detail = 'The tags cannot be read from the tickets service.';
  throw new DomainError('unavailable', 'tags_unavailable', detail, { cause: error });
}

const ownCauses: readonly ChangeCause[] = [ChangeCause.ANALYSIS, ChangeCause.REFRESH];
const manual: readonly JsonValue[] = ['manual_spam', 'manual_clean'];

/**
 * Returns the decision that somebody has made by a change of a ticket. A finding of an analysis is no decision, and
 * neither is a change that a service makes by itself, such as an automatic execution: the classifier would learn from
 * itself.
 *
 * Source: docs/decisions/0047-decisions-as-examples.md.
 */
export function decisionOf(changed: TicketChanged): Decision | undefined {
  const { ticketId, type, version, cause, actor } = changed;
  if (type === TicketChangeType.TICKET_DELETED || ownCauses.includes(cause)) return undefined;
  const spam = changedValues(changed, 'spamStatus');
  const tags = changedValues(changed, 'tagIds');
  const decision: Decision = {
    ticketId,
    tags: undefined,
    onlyRemoved: [],
    spam: spam !== undefined && (isManual(spam.before) || isManual(spam.after)),
    text: type !== TicketChangeType.TICKET_CREATED && changedValues(changed, 'subject') !== undefined,
  };
  if (tags && actor !== undefined && actor.kind !== 'service') {
    const [before, tagIds] = [idsOf(tags.before), idsOf(tags.after)];
    decision.tags = { version, tagIds, byPerson: isHuman({ kind: actor.kind as ProfileKind }) };
    const isAddition = tagIds.some((id) => !before.includes(id));
    if (!isAddition) decision.onlyRemoved = before.filter((id) => !tagIds.includes(id));
  }
  return decision.tags || decision.spam || decision.text ? decision : undefined;
}

function isManual(value: JsonValue): boolean {
  return manual.includes(value);
}

function idsOf(value: JsonValue): number[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'number') : [];
}

/**
 * The values of a field before and after a change, null where there was none; undefined if the field was not changed.
 */
export function changedValues(
  { changes }: Pick<TicketChanged, 'changes'>,
  field: string,
): { before: JsonValue; after: JsonValue } | undefined {
  const change = changes.find((one) => one.field === field);
  return change && { before: jsonOf(change.oldValue), after: jsonOf(change.newValue) };
}

function jsonOf(value: Value | undefined): JsonValue {
  return value === undefined ? null : toJson(ValueSchema, value);
}
