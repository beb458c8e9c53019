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
import { ticketInputReader } from './read-input.ts';
import type { TicketPatch } from './rules/patch.ts';

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
