import { create, toBinary } from '@bufbuild/protobuf';
import { TagChangedSchema } from '@ticketing/contracts/ticketing/events/v1/tag_changed_pb.ts';
import type { OutgoingMessage } from '@ticketing/events/bus/bus.ts';
import { eventMessage } from '@ticketing/events/bus/envelope.ts';
import { timestampOf } from '@ticketing/rest/codec/date-time.ts';
import type { TagEvent } from './rules/event.ts';

/** The message for the event that a tag has changed. Source: docs/reference/api.md, Events. */
export function tagChangedMessage(tagId: number, event: TagEvent): OutgoingMessage {
  const { eventId, version, occurredAt, deleted, traceparent } = event;
  const value = create(TagChangedSchema, { eventId, tagId, version, occurredAt: timestampOf(occurredAt), deleted });
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
