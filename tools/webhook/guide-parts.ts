import type { DescEnum, DescField, DescMessage } from '@bufbuild/protobuf';
import { ScalarType } from '@bufbuild/protobuf';
import { FeatureSet_FieldPresence } from '@bufbuild/protobuf/wkt';
import {
  ActorSchema,
  ChangeCauseSchema,
  FieldChangeSchema,
  type TicketChanged,
  TicketChangedSchema,
  TicketChangeTypeSchema,
} from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { messageEncoder } from '@ticketing/rest/codec/encode.ts';
import { readSpellings } from '@ticketing/rest/codec/options.ts';
import { findComments } from '@ticketing/rest/documents/comments.ts';
import { fieldChanges } from '../../services/tickets/src/ticket/rules/event.ts';
import { initialTicket, ticketFieldNames } from '../../services/tickets/src/ticket/rules/fields.ts';
import { markdownTable, withGeneratedParts } from '../dev/generated-parts.ts';
import { exampleEvents } from './example-events.ts';

/**
 * Writes the parts of docs/webhooks.md that follow from the contract, and the examples, into its text: each part between
 * two comments that name it.
 *
 * Errors: an Error for a part that has no place in the text.
 */
export function withGuideParts(guide: string): string {
  return withGeneratedParts(guide, guideParts());
}

function guideParts(): Record<string, string> {
  return {
    types: markdownTable(['Type', 'What happened to the ticket'], valueRows(TicketChangeTypeSchema)),
    data: fieldTable(TicketChangedSchema),
    changes: fieldTable(FieldChangeSchema),
    'changed fields': changedFieldTable(),
    actor: fieldTable(ActorSchema),
    causes: markdownTable(['Cause', 'Meaning'], valueRows(ChangeCauseSchema)),
    examples: exampleEvents().map(example).join('\n\n'),
  };
}

const encodeEvent = messageEncoder(TicketChangedSchema);

/** The body of a delivery, indented to be read. */
function example(event: TicketChanged): string {
  const data = encodeEvent(event);
  const body = { type: data.type, timestamp: data.occurredAt, data };
  // A change of a field takes one line.
  const json = JSON.stringify(body, undefined, 2).replace(/\{\s+"field"[\s\S]*?\}/g, (text) =>
    text.replace(/\s+/g, ' ').replace(/\[ | \]/g, (bracket) => bracket.trim()),
  );
  return `\`${data.type}\`:\n\n\`\`\`json\n${json}\n\`\`\``;
}

function fieldTable({ fields }: DescMessage): string {
  const rows = fields.map((field) => [`\`${field.jsonName}\``, describeType(field), findComments(field).text]);
  return markdownTable(['Field', 'Type', 'Meaning'], rows);
}

function valueRows(desc: DescEnum): string[][] {
  const spellings = readSpellings(desc);
  return desc.values
    .filter(({ number }) => spellings.has(number))
    .map((value) => [`\`${spellings.get(value.number)}\``, findComments(value).text]);
}

function changedFieldTable(): string {
  const changes = fieldChanges(ticketFieldNames, initialTicket, initialTicket);
  const names = (hasValues: boolean) =>
    changes
      .filter((change) => 'newValue' in change === hasValues)
      .map(({ field }) => `\`${field}\``)
      .join(', ');
  return markdownTable(
    ['Fields of the ticket', 'In the event'],
    [
      [names(true), 'name, old and new value'],
      [names(false), 'name only'],
    ],
  );
}

function describeType(field: DescField): string {
  if (field.fieldKind === 'list') return 'list of objects, see below';
  const type = field.message ? messageType(field.message) : field.enum ? 'string, see the list' : scalarType(field);
  return field.presence === FeatureSet_FieldPresence.EXPLICIT ? `${type}, or null` : type;
}

function messageType({ typeName }: DescMessage): string {
  if (typeName === 'google.protobuf.Timestamp') return 'string, RFC 3339';
  return typeName === 'google.protobuf.Value' ? 'string, number or list' : 'object, see below';
}

function scalarType({ scalar }: DescField): string {
  switch (scalar) {
    case ScalarType.STRING:
      return 'string';
    case ScalarType.BOOL:
      return 'boolean';
    default:
      return 'integer';
  }
}
