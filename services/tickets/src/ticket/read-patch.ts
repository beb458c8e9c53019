import type { DescMessage, Message } from '@bufbuild/protobuf';
import type { FieldMask } from '@bufbuild/protobuf/wkt';
import {
  RefreshMode,
  RefreshModeSchema,
  type TicketChange,
  TicketChangeSchema,
  type UpdateTicketRequest,
  UpdateTicketRequestSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { readSpellings } from '@ticketing/rest/codec/options.ts';
import { type TicketFieldName, type TicketInput, ticketField, ticketFields } from './rules/fields.ts';
import type { TicketPatch } from './rules/patch.ts';

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
      input[name] = value === undefined ? ticketField(name).initial : ticketField(name).fromMessage(value as never);
    }
    return input;
  };
}

/** One element of a bulk request: a patch of a ticket, or instead of it the request to analyse the ticket again. */
export interface BulkElement {
  patch: TicketPatch;
  /** The mode of a new analysis, as the API spells it; undefined without a refresh flag. */
  refreshMode: string | undefined;
}

const readUpdateTicket = patchReader(UpdateTicketRequestSchema);
const readTicketChange = patchReader(TicketChangeSchema);

/** Reads the request for a PATCH of one ticket. */
export function readPatch(request: UpdateTicketRequest): TicketPatch {
  return readUpdateTicket(request);
}

/**
 * Reads one element of a bulk request.
 *
 * Source: docs/reference/api.md, Bulk changes; docs/reference/api.md, Refresh flags.
 */
export function readBulkElement(change: TicketChange): BulkElement {
  const mode =
    change.refreshMode ?? (change.refresh ? RefreshMode.FULL : change.refreshTags ? RefreshMode.TAGS : undefined);
  return {
    patch: readTicketChange(change),
    refreshMode: mode === undefined ? undefined : readSpellings(RefreshModeSchema).get(mode),
  };
}

/** The fields that both requests have, apart from those of the ticket. */
interface PatchMessage extends Message {
  updateMask?: FieldMask | undefined;
  workedOnBy?: number | undefined;
  addTagIds?: number[];
  removeTagIds?: number[];
}

function patchReader(request: DescMessage): (message: PatchMessage) => TicketPatch {
  const readInput = ticketInputReader(request);
  return (message) => ({
    input: readInput(message),
    addTagIds: message.addTagIds ?? [],
    removeTagIds: message.removeTagIds ?? [],
    workedOnBy: message.updateMask?.paths.includes('worked_on_by') ? (message.workedOnBy ?? null) : undefined,
  });
}
