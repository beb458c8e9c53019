import { type JsonValue, toJson } from '@bufbuild/protobuf';
import { type Value, ValueSchema } from '@bufbuild/protobuf/wkt';
import type { TicketChanged } from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';

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
