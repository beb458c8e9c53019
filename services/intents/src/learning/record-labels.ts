import type { EventEmitter } from 'node:events';
import { type JsonValue, toJson } from '@bufbuild/protobuf';
import { type Value, ValueSchema } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import {
  ChangeCause,
  type TicketChanged,
  TicketChangeType,
} from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import type { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { continueTrace } from '@ticketing/runtime/trace.ts';
import { ifFound } from '@ticketing/service-kit/client/if-found.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import { isHuman, type ProfileKind } from '@ticketing/service-kit/identity/caller.ts';
import type { ErasedIds } from '@ticketing/store/ids/erased-ids.ts';
import type { ExampleStore } from './example-store.ts';
import type { LabelChange } from './rules/label.ts';

/** The dependencies of `recordLabels`. */
export interface LabelContext {
  examples: Pick<ExampleStore, 'record'>;
  findDeletedTags: FindDeletedTags;
  /** Emits `due` when labels were recorded. */
  signals: EventEmitter;
}

/**
 * Records the labels that events of tickets contain, so that they are learned. The cleanup of deleted tags says nothing
 * about the tickets.
 *
 * Errors: store_unavailable, tags_unavailable. Source: docs/decisions/0047-decisions-as-examples.md.
 */
export async function recordLabels(
  { examples, findDeletedTags, signals }: LabelContext,
  events: readonly TicketChanged[],
): Promise<void> {
  const changes = events.flatMap((event) => labelFrom(event) ?? []);
  if (changes.length === 0) return;
  const deletedTags = await findDeletedTags(changes.flatMap(({ onlyRemoved }) => onlyRemoved));
  const isCleanup = ({ onlyRemoved }: LabelChange) =>
    onlyRemoved.length > 0 && onlyRemoved.every((id) => deletedTags.has(id));
  const labels = changes.map((change) => (isCleanup(change) ? { ...change, tags: undefined } : change));
  await examples.record(labels.filter(({ tags, spam, text }) => tags || spam || text));
  signals.emit('due');
}

/** Finds the tags that do not exist any more. Errors: store_unavailable, tags_unavailable. */
export type FindDeletedTags = (tagIds: readonly number[]) => Promise<Set<number>>;

/**
 * Makes the search for deleted tags. The event of a deletion may not have arrived yet, so the tickets service is asked
 * too.
 */
export function openDeletedTags(
  deletedTags: Pick<ErasedIds, 'among'>,
  tags: (call: OnBehalfOf) => Pick<Client<typeof TagService>, 'getTag'>,
  stopping: AbortSignal,
): FindDeletedTags {
  return async (tagIds) => {
    const deleted = await deletedTags.among([...new Set(tagIds)]);
    const client = tags({ trace: continueTrace(undefined), signal: stopping });
    for (const id of new Set(tagIds)) {
      if (deleted.has(id)) continue;
      const tag = await ifFound(client.getTag({ id })).catch(unavailable);
      if (!tag) deleted.add(id);
    }
    return deleted;
  };
}

function unavailable(error: unknown): never {
  const detail = 'The tags cannot be read from the tickets service.';
  throw new DomainError('unavailable', 'tags_unavailable', detail, { cause: error });
}

const ownCauses: readonly ChangeCause[] = [ChangeCause.ANALYSIS, ChangeCause.REFRESH];
const manual: readonly JsonValue[] = ['manual_spam', 'manual_clean'];

/**
 * Reads the labels that somebody has set by a change of a ticket. The findings of an analysis are none, and neither are
 * the changes that a service makes by itself, such as an automatic execution: the classifier would learn from itself.
 *
 * Source: docs/decisions/0047-decisions-as-examples.md.
 */
export function labelFrom(changed: TicketChanged): LabelChange | undefined {
  const { ticketId, type, version, cause, actor } = changed;
  if (type === TicketChangeType.TICKET_DELETED || ownCauses.includes(cause)) return undefined;
  const spam = readChange(changed, 'spamStatus');
  const tags = readChange(changed, 'tagIds');
  const change: LabelChange = {
    ticketId,
    tags: undefined,
    onlyRemoved: [],
    spam: spam !== undefined && (isManual(spam.before) || isManual(spam.after)),
    text: type !== TicketChangeType.TICKET_CREATED && readChange(changed, 'subject') !== undefined,
  };
  if (tags && actor !== undefined && actor.kind !== 'service') {
    const [before, tagIds] = [readIds(tags.before), readIds(tags.after)];
    change.tags = { version, tagIds, byPerson: isHuman({ kind: actor.kind as ProfileKind }) };
    const isAddition = tagIds.some((id) => !before.includes(id));
    if (!isAddition) change.onlyRemoved = before.filter((id) => !tagIds.includes(id));
  }
  return change.tags || change.spam || change.text ? change : undefined;
}

function isManual(value: JsonValue): boolean {
  return manual.includes(value);
}

function readIds(value: JsonValue): number[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'number') : [];
}

/** Reads a field before and after a change, null where it had no value; undefined if the field was not changed. */
export function readChange(
  { changes }: Pick<TicketChanged, 'changes'>,
  field: string,
): { before: JsonValue; after: JsonValue } | undefined {
  const change = changes.find((one) => one.field === field);
  return change && { before: valueToJson(change.oldValue), after: valueToJson(change.newValue) };
}

function valueToJson(value: Value | undefined): JsonValue {
  return value === undefined ? null : toJson(ValueSchema, value);
}
