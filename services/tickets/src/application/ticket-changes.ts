import {
  RefreshMode,
  RefreshModeSchema,
  type TicketChange,
  TicketChangeSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { spellingsOf } from '@ticketing/rest/options.ts';
import { patchReader, type TicketPatch } from './ticket-update.ts';

const readPatch = patchReader(TicketChangeSchema);

/** One element of a bulk: what it changes, or what the analysis is to look at again instead. */
export interface ReadTicketChange {
  patch: TicketPatch;
  /** As the specification spells it; undefined without a refresh flag. */
  refreshMode: string | undefined;
}

/** Reads an element of a bulk. Source: specification, PATCH /ticket, Flags. */
export function readTicketChange(change: TicketChange): ReadTicketChange {
  const mode =
    change.refreshMode ?? (change.refresh ? RefreshMode.FULL : change.refreshTags ? RefreshMode.TAGS : undefined);
  return {
    patch: readPatch(change),
    refreshMode: mode === undefined ? undefined : spellingsOf(RefreshModeSchema).get(mode),
  };
}
