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
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import { type Caller, isHuman } from '@ticketing/service-kit/identity/caller.ts';
import type { CustomerDirectory } from '../customer/directory.ts';
import { eventHeader } from '../event-header.ts';
import type { ReadSettings } from '../settings.ts';
import type { TagTree } from '../tag/rules.ts';
import type { TagStore } from '../tag/store.ts';
import type { ChangePlan } from './commit.ts';
import { followCustomer } from './refresh-customer.ts';
import { type TicketFieldName, type TicketInput, ticketField, ticketFields } from './rules/fields.ts';
import { decidePatch, type TicketPatch } from './rules/patch.ts';
import { noSla, type SlaRules } from './rules/sla.ts';

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

/** Reads the request for a PATCH of one ticket. */
export const readPatch: (request: UpdateTicketRequest) => TicketPatch = patchReader(UpdateTicketRequestSchema);
const readTicketChange = patchReader(TicketChangeSchema);

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

/** The request that a PATCH is part of. Units: `now` in Unix seconds. */
interface PatchRequest {
  caller: Caller;
  traceparent: string;
  now: number;
  includeInWorklog: boolean;
  /** With the tags as they are when the request is applied. */
  sla: SlaRules;
  /** Throws if `If-Match` does not allow the version of the ticket. */
  requireVersion?: (version: number) => void;
}

/** Plans a PATCH of a ticket. Errors of the plan: what `requireVersion` throws. */
export function planPatch(
  { customers, runtime }: { customers: CustomerDirectory; runtime: Runtime },
  ticketId: number,
  patch: TicketPatch,
  { caller, traceparent, now, includeInWorklog, sla, requireVersion }: PatchRequest,
): ChangePlan {
  const author = { profileId: caller.profileId, isHuman: isHuman(caller) };
  return {
    ticketId,
    identify: followCustomer(customers, patch.input, author.isHuman),
    decide(stored, identified) {
      requireVersion?.(stored.ticket.version);
      const header = eventHeader({ runtime }, caller, traceparent);
      const input = { ...identified, ...patch.input };
      return decidePatch(stored, { ...patch, input }, { author, now, includeInWorklog, sla, header });
    },
  };
}

/** Reads the rules of deadlines. The tags are read only for a write that sets tags of a ticket. */
export async function readSlaRules(
  deps: { settings: ReadSettings; tags: Pick<TagStore, 'tree'> },
  setsTags: boolean,
): Promise<SlaRules> {
  return setsTags ? slaRulesWith(deps, await deps.tags.tree()) : noSla;
}

/** Reads the rules of deadlines, with tags that were read before. */
export async function slaRulesWith({ settings }: { settings: ReadSettings }, tree: TagTree): Promise<SlaRules> {
  const { businessTime } = await settings();
  return { businessTime, findTag: tree.get };
}
