import { fromBinary, toBinary } from '@bufbuild/protobuf';
import type { Value } from '@bufbuild/protobuf/wkt';
import { lastingFields, timeFields } from '@ticketing/contracts/lasting-fields.ts';
import { type TicketChanged, TicketChangedSchema } from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { formatRfc3339, parseDateTime } from '@ticketing/rest/codec/date-time.ts';

/** How long the feed and the log of deliveries go back. */
export const retentionMs = 30 * 24 * 60 * 60 * 1000;

/** Reads an event. Times that an older version has spelt as `YYYY-MM-DD HH:MM:SS` become RFC 3339. */
export function parseEvent(bytes: Uint8Array): TicketChanged {
  const event = fromBinary(TicketChangedSchema, bytes);
  for (const { field, oldValue, newValue } of event.changes) {
    if (!timeFields.has(field)) continue;
    spellTime(oldValue);
    spellTime(newValue);
  }
  return event;
}

function spellTime(value: Value | undefined): void {
  if (value?.kind.case !== 'stringValue' || value.kind.value.endsWith('Z')) return;
  const time = parseDateTime(value.kind.value);
  if (time) value.kind.value = formatRfc3339(time.seconds);
}

/**
 * Makes the event that may outlive its ticket: only the old and new values of enums and times stay.
 *
 * Source: docs/reference/api.md, Deletion.
 */
export function toErasedEvent(event: TicketChanged): TicketChanged {
  const changes = event.changes.map((change) => {
    if (lastingFields.has(change.field)) return change;
    return { $typeName: change.$typeName, field: change.field };
  });
  return { ...event, changes };
}

/** Makes the bytes of an event that may outlive its ticket. */
export function toErasedBytes(bytes: Uint8Array): Uint8Array {
  return toBinary(TicketChangedSchema, toErasedEvent(fromBinary(TicketChangedSchema, bytes)));
}
