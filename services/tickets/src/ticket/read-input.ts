import type { DescMessage, Message } from '@bufbuild/protobuf';
import type { FieldMask } from '@bufbuild/protobuf/wkt';
import type { TicketInput } from './rules/fields.ts';
import { fieldOf, type TicketFieldName, ticketFields } from './rules/fields.ts';

/** Fields whose name in a request differs from that in the ticket. */
const renamed: Record<string, TicketFieldName> = { tags: 'tagIds' };

/** The version in a request is the one that the client expects, not one to set; files have to be stored first. */
const unread = new Set(['version', 'attachments']);

/**
 * Compiles the reader of the ticket fields in a type of request.
 *
 * If the type has an `update_mask`, the mask says which fields to set, and a field without a value is cleared.
 * Otherwise each field that has a value is set; an empty list is no value.
 */
export function ticketInputReader(request: DescMessage): (message: Message) => TicketInput {
  const isMasked = request.fields.some(({ localName }) => localName === 'updateMask');
  const fields = request.fields.flatMap(({ localName, name: path, fieldKind }) => {
    const name = renamed[localName] ?? localName;
    return name in ticketFields && !unread.has(name)
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
