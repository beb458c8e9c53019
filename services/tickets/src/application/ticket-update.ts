import type { DescMessage, Message } from '@bufbuild/protobuf';
import type { FieldMask } from '@bufbuild/protobuf/wkt';
import type { Violation } from '@ticketing/errors/domain-error.ts';
import { type Caller, isHuman } from '@ticketing/service-kit/identity/caller.ts';
import type { TagTree } from '../domain/tag-tree.ts';
import { patchTicket, type TicketUpdate } from '../domain/ticket.ts';
import type { StoredTicket } from '../store/ticket-store.ts';
import type { Decision } from './change-ticket.ts';
import { updatedEvent } from './ticket-event.ts';
import { ticketInputReader } from './ticket-input.ts';

/** What a request says of one ticket: an UpdateTicketRequest, or a TicketChange of several. */
export interface PatchMessage extends Message {
  updateMask?: FieldMask | undefined;
  workedOnBy?: number | undefined;
  addTagIds?: number[];
  removeTagIds?: number[];
}

/** A PATCH of one ticket, read from its message. */
export interface TicketPatch extends TicketUpdate {
  /** The profile that works on the ticket; null: the caller no longer does; undefined: not said. */
  workedOnBy: number | null | undefined;
}

/** Compiles the reader of a PATCH. */
export function patchReader(request: DescMessage): (message: PatchMessage) => TicketPatch {
  const readInput = ticketInputReader(request);
  return (message) => ({
    input: readInput(message),
    addTagIds: message.addTagIds ?? [],
    removeTagIds: message.removeTagIds ?? [],
    workedOnBy: message.updateMask?.paths.includes('worked_on_by') ? (message.workedOnBy ?? null) : undefined,
  });
}

/** What is wrong with the tags that a PATCH names; `at` is the pointer to the PATCH. */
export function tagViolations(patch: TicketPatch, tree: TagTree, at: string): Violation[] {
  const { input, addTagIds, removeTagIds } = patch;
  const unknown = (ids: readonly number[], field: string) =>
    ids.flatMap((id, index) =>
      tree.get(id)
        ? []
        : [{ pointer: `${at}/${field}/${index}`, code: 'unknown_tag', detail: `tag ${id} does not exist` }],
    );
  const violations = [...unknown(input.tagIds ?? [], 'tagIds'), ...unknown(addTagIds, 'addTagIds')];
  if (input.tagIds !== undefined && addTagIds.length + removeTagIds.length > 0) {
    const detail = 'can not be combined with addTagIds or removeTagIds';
    violations.push({ pointer: `${at}/tagIds`, code: 'conflicting_tags', detail });
  }
  addTagIds.forEach((id, index) => {
    if (!removeTagIds.includes(id)) return;
    const detail = `tag ${id} is also to be removed`;
    violations.push({ pointer: `${at}/addTagIds/${index}`, code: 'conflicting_tags', detail });
  });
  return violations;
}

/** Who makes a PATCH, in which trace, when, and whether it counts for the worklog. Units: `now` in Unix seconds. */
export interface PatchContext {
  caller: Caller;
  traceparent: string | undefined;
  now: number;
  includeInWorklog: boolean;
}

/** Decides what a PATCH does to a ticket. Source: decisions.md section 5. */
export function decidePatch(stored: StoredTicket, patch: TicketPatch, context: PatchContext): Decision {
  const { caller, now } = context;
  const { after, changed } = patchTicket(stored.ticket, patch, now);
  const workedOn = workedOnOf(patch, context);
  if (after === stored.ticket) return { workedOn };
  const at = new Date(now * 1000);
  const counts = context.includeInWorklog && isHuman(caller) && caller.profileId !== null;
  return {
    write: {
      after,
      changed,
      event: updatedEvent(stored.ticket, after, changed, { ...caller, traceparent: context.traceparent }),
      worklogEntry: counts ? { profileId: caller.profileId ?? 0, at, fields: changed } : undefined,
    },
    workedOn,
  };
}

function workedOnOf({ workedOnBy }: TicketPatch, { caller, now }: PatchContext): Decision['workedOn'] {
  if (workedOnBy === undefined) return undefined;
  if (workedOnBy !== null) return { profileId: workedOnBy, at: new Date(now * 1000) };
  return caller.profileId === null ? undefined : { profileId: caller.profileId, at: null };
}
