import { TimestampSchema } from '@bufbuild/protobuf/wkt';
import { TicketSchema } from './gen/ticketing/tickets/v1/ticket_pb.ts';

const jsonNames = (fields: typeof TicketSchema.fields) => fields.map(({ jsonName }) => jsonName);

/** The fields of a ticket that are times. */
export const timeFields: ReadonlySet<string> = new Set(
  jsonNames(TicketSchema.fields.filter(({ message }) => message?.typeName === TimestampSchema.typeName)),
);

/**
 * The fields of a ticket whose old and new values may stay in an event that outlives the ticket: times and enums.
 *
 * Source: docs/reference/api.md, Deletion.
 */
export const lastingFields: ReadonlySet<string> = new Set([
  ...timeFields,
  ...jsonNames(TicketSchema.fields.filter((field) => field.enum !== undefined)),
]);
