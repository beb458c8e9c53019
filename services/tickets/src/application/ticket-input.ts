import type { DescMessage, Message } from '@bufbuild/protobuf';
import type { FieldMask } from '@bufbuild/protobuf/wkt';
import type { TicketInput } from '../domain/ticket.ts';
import { fieldOf, type TicketFieldName, ticketFields } from '../domain/ticket-fields.ts';

/** Names that requests and tickets do not share. */
const renamed: Record<string, TicketFieldName> = { tags: 'tagIds' };

/**
 * Compiles the reader of the ticket fields in a request: those that are kept under the same name.
 *
 * Where the request has an `update_mask`, it names the fields that are given, and one without a value is cleared. Else a
 * field without a value, or an empty list, is absent.
 */
export function ticketInputReader(request: DescMessage): (message: Message) => TicketInput {
  const isMasked = request.fields.some(({ localName }) => localName === 'updateMask');
  const fields = request.fields.flatMap(({ localName, name: path, fieldKind }) => {
    const name = renamed[localName] ?? localName;
    // A version in a request is what the client expects, and no value.
    return name in ticketFields && name !== 'version'
      ? [{ localName, path, name: name as TicketFieldName, isList: fieldKind === 'list' }]
      : [];
  });
  return (message) => {
    const values = message as unknown as Readonly<Record<string, unknown>> & { updateMask?: FieldMask };
    const given = isMasked ? new Set(values.updateMask?.paths) : undefined;
    const input: Record<string, unknown> = {};
    for (const { localName, path, name, isList } of fields) {
      const value = values[localName];
      if (given ? !given.has(path) : value === undefined || (isList && (value as unknown[]).length === 0)) continue;
      input[name] = value === undefined ? fieldOf(name).initial : fieldOf(name).fromMessage(value as never);
    }
    return input;
  };
}
