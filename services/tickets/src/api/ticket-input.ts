import type { DescMessage, Message } from '@bufbuild/protobuf';
import type { TicketInput } from '../domain/ticket.ts';
import { fieldOf, type TicketFieldName, ticketFields } from '../store/ticket-fields.ts';

/** Names that requests and tickets do not share. */
const renamed: Record<string, TicketFieldName> = { tags: 'tagIds' };

/**
 * Compiles the reader of the ticket fields in a request: those that are kept under the same name. A field without a
 * value is absent; an empty list counts as absent too where `emptyListIsAbsent`.
 */
export function ticketInputReader(request: DescMessage): (message: Message) => TicketInput {
  const fields = request.fields.flatMap(({ localName, fieldKind }) => {
    const name = renamed[localName] ?? localName;
    return name in ticketFields ? [{ localName, name: name as TicketFieldName, isList: fieldKind === 'list' }] : [];
  });
  return (message) => {
    const values = message as unknown as Readonly<Record<string, unknown>>;
    const input: Record<string, unknown> = {};
    for (const { localName, name, isList } of fields) {
      const value = values[localName];
      if (value === undefined || (isList && (value as unknown[]).length === 0)) continue;
      input[name] = fieldOf(name).fromMessage(value as never);
    }
    return input;
  };
}
