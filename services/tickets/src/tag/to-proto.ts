import { create, toBinary } from '@bufbuild/protobuf';
import { TagChangedSchema } from '@ticketing/contracts/ticketing/events/v1/tag_changed_pb.ts';
import type { Tag } from '@ticketing/contracts/ticketing/tickets/v1/tag_pb.ts';
import type { OutgoingMessage } from '@ticketing/events/bus/bus.ts';
import { eventMessage } from '@ticketing/events/bus/envelope.ts';
import { toTimestamp } from '@ticketing/rest/codec/date-time.ts';
import type { TagEvent, TagState, TagTree } from './rules.ts';

function tagMessage(tag: TagState, tree: TagTree): Tag {
  return {
    $typeName: 'ticketing.tickets.v1.Tag',
    id: tag.id,
    name: tag.name,
    fullName: tree.fullName(tag),
    ...(tag.parent === null ? {} : { parent: tag.parent }),
    reference: tag.reference,
    type: tag.type,
    visibility: tag.visibility,
    ...(tag.color === null ? {} : { color: tag.color }),
    routingRelevant: tag.routingRelevant,
    ...(tag.sla === null ? {} : { sla: tag.sla }),
    ...(tag.firstResponseSla === null ? {} : { firstResponseSla: tag.firstResponseSla }),
    ...(tag.priority === null ? {} : { priority: tag.priority }),
    detection: { $typeName: 'ticketing.tickets.v1.TagDetection', keywords: [...tag.keywords] },
    modifiedAt: toTimestamp(tag.modifiedAt),
  };
}

const messagesOfTrees = new WeakMap<TagTree, Map<number, Tag>>();

/**
 * Makes the messages of tags by their ids, ignoring unknown ids. Each message is made once for each state of the tree.
 */
export function tagMessages(ids: readonly number[], tree: TagTree): Tag[] {
  const known = messagesOfTrees.get(tree) ?? new Map<number, Tag>();
  messagesOfTrees.set(tree, known);
  return ids.flatMap((id) => {
    const tag = tree.get(id);
    if (!tag) return [];
    const message = known.get(id) ?? tagMessage(tag, tree);
    known.set(id, message);
    return [message];
  });
}

const sizes = new WeakMap<Tag, number>();
/** About the size of the other fields of a tag. */
const otherBytes = 300;

/** About how many bytes the message of a tag has: its keywords can be 100,000 characters. */
export function tagSize(tag: Tag): number {
  const known = sizes.get(tag);
  if (known !== undefined) return known;
  const texts = [tag.name, tag.fullName, ...(tag.detection?.keywords ?? [])];
  const size = texts.reduce((sum, text) => sum + Buffer.byteLength(text), otherBytes);
  sizes.set(tag, size);
  return size;
}

/** The message for the event that a tag has changed. Source: docs/reference/api.md, Events. */
export function tagChangedMessage(tagId: number, event: TagEvent): OutgoingMessage {
  const { eventId, version, occurredAt, deleted, traceparent } = event;
  const value = create(TagChangedSchema, { eventId, tagId, version, occurredAt: toTimestamp(occurredAt), deleted });
  const envelope = {
    id: eventId,
    type: 'tag.changed',
    source: 'ticketing/tickets',
    subject: String(tagId),
    time: occurredAt,
    traceparent,
  };
  return eventMessage(String(tagId), envelope, toBinary(TagChangedSchema, value));
}
