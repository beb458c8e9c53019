import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import { TicketSchema } from '@ticketing/contracts/ticketing/tickets/v1/ticket_pb.ts';
import { type TicketChange, TicketChangeSchema } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import type { Violation } from '@ticketing/errors/domain-error.ts';
import { compileMessageDecoder, Problems } from '@ticketing/rest/codec/decode.ts';
import { messageValidator } from '@ticketing/rest/codec/rules.ts';

/** The fields of a ticket that an execution sets, as in `PATCH /ticket`. */
export type TicketFieldsState = JsonObject;

/** The members of an element of `PATCH /ticket` that are no fields of the ticket. */
const notFields = ['id', 'version', 'worked_on_by', 'refresh_mode', 'refresh', 'refresh_tags'];

const decode = compileMessageDecoder(TicketChangeSchema, {
  without: new Set(notFields),
  findMessage: (name) => (name === TicketSchema.typeName ? TicketSchema : undefined),
});
const validate = messageValidator(TicketChangeSchema);

/**
 * Checks the fields of a ticket with the decoder and the rules of `PATCH /ticket`. The tickets service finds the other
 * violations.
 */
export function ticketFieldsViolations(fields: TicketFieldsState, pointer: string): Violation[] {
  if (Object.keys(fields).length === 0) return [{ pointer, code: 'too_few_items', detail: 'must have a field' }];
  const { change, problems } = decodeFields(fields);
  if (problems.violations.length > 0 || !change) return problems.violations.map((one) => below(one, pointer));
  return validate(change).map((one) => below(one, pointer));
}

/** Converts fields without violations to a change of a ticket. */
export function toTicketChange(fields: TicketFieldsState, ticketId: number): TicketChange {
  const { change } = decodeFields(fields);
  if (!change) throw new Error('The fields of a ticket were stored with violations.');
  return { ...change, id: ticketId };
}

/** Returns the tags that fields name. */
export function tagIdsIn(fields: TicketFieldsState): number[] {
  return tagLists.flatMap((name) => idsIn(fields[name]));
}

/** Returns the fields without some tags. An empty list is left out too: `tagIds` would remove all tags of the ticket. */
export function withoutTagsIn(fields: TicketFieldsState, tagIds: readonly number[]): TicketFieldsState {
  const entries = Object.entries(fields).flatMap(([name, value]): [string, JsonValue][] => {
    const ids = idsIn(value);
    if (!tagLists.includes(name) || ids.length === 0) return [[name, value]];
    const left = ids.filter((id) => !tagIds.includes(id));
    return left.length === 0 ? [] : [[name, left]];
  });
  return Object.fromEntries(entries);
}

const tagLists = ['tagIds', 'addTagIds', 'removeTagIds'];

function idsIn(value: unknown): number[] {
  return Array.isArray(value) ? value.filter((id) => typeof id === 'number') : [];
}

function decodeFields(fields: TicketFieldsState) {
  const problems = new Problems();
  const message = decode(fields, '#', problems) as TicketChange | undefined;
  // Any id fits the rules: which ticket is changed is known at the execution.
  return { problems, change: message && { ...message, id: 1 } };
}

function below(violation: Violation, pointer: string): Violation {
  return { ...violation, pointer: pointer + violation.pointer.slice(1) };
}
