import type { Violation } from '@ticketing/errors/domain-error.ts';
import type { EventHeader } from '../../rules/event-header.ts';
import { type TagTree, unknownTags } from '../../tag/rules.ts';
import { type Author, changeFields, setFields, type TicketChange } from './change.ts';
import type { TicketDecision, WorklogEntry } from './decision.ts';
import { updatedEvent } from './event.ts';
import type { TicketInput, TicketState } from './fields.ts';
import { type SlaRules, withStricterTargets } from './sla.ts';
import { startWorking, stopWorking, type WorkedOn, type WorkedOnChange } from './worked-on.ts';

/** The content of a PATCH of one ticket. */
export interface TicketPatch {
  /** The fields to set. */
  input: TicketInput;
  addTagIds: readonly number[];
  removeTagIds: readonly number[];
  /** The profile that works on the ticket; null: the author no longer does; undefined: no change. */
  workedOnBy: number | null | undefined;
}

/** The context of a decision on a PATCH. Units: `now` in Unix seconds. */
export interface PatchContext {
  author: Author;
  now: number;
  /** Whether a change by a person becomes an entry of the worklog. */
  includeInWorklog: boolean;
  sla: SlaRules;
  header: EventHeader;
}

/** Decides what a PATCH does to a ticket. Source: docs/reference/api.md, Updating a ticket. */
export function decidePatch(
  { ticket, workedOn }: { ticket: TicketState; workedOn: readonly WorkedOn[] },
  patch: TicketPatch,
  context: PatchContext,
): TicketDecision {
  const workedOnChange = decideWorkedOn(workedOn, patch, context);
  const change = patchFields(ticket, patch, context);
  if (change.after === ticket) return { workedOn: workedOnChange };
  return {
    change: {
      ...change,
      event: updatedEvent(ticket, change, context.header),
      worklogEntry: worklogEntry(change, context),
    },
    workedOn: workedOnChange,
  };
}

/**
 * A PATCH that contains a status makes a new version even if no value differs; any other PATCH then changes nothing.
 *
 * Source: docs/reference/api.md, Updating a ticket; docs/reference/api.md, Status and closing.
 */
function patchFields(before: TicketState, patch: TicketPatch, { now, sla }: PatchContext): TicketChange {
  const { addTagIds, removeTagIds } = patch;
  const kept = before.tagIds.filter((id) => !removeTagIds.includes(id));
  const tagIds = [...kept, ...addTagIds.filter((id) => !kept.includes(id))];
  const given = addTagIds.length + removeTagIds.length > 0 ? { ...patch.input, tagIds } : patch.input;
  const input = withStricterTargets(before, given, sla);
  return input.status === undefined ? changeFields(before, input, now) : setFields(before, input, now);
}

function decideWorkedOn(
  before: readonly WorkedOn[],
  { workedOnBy }: TicketPatch,
  { author, now }: PatchContext,
): WorkedOnChange | undefined {
  if (workedOnBy === undefined) return undefined;
  if (workedOnBy !== null) return startWorking(before, workedOnBy, now);
  return author.profileId === null ? undefined : stopWorking(before, author.profileId, now);
}

function worklogEntry(
  { changed }: TicketChange,
  { author, now, includeInWorklog }: PatchContext,
): WorklogEntry | undefined {
  if (!includeInWorklog || !author.isHuman || author.profileId === null) return undefined;
  return { profileId: author.profileId, at: now, fields: changed };
}

/** Whether a PATCH sets, adds or removes tags. */
export function setsTags({ input, addTagIds, removeTagIds }: TicketPatch): boolean {
  return input.tagIds !== undefined || addTagIds.length + removeTagIds.length > 0;
}

/** The violations in the tags of a PATCH. `pointer` is that of the PATCH in the request. */
export function tagViolations(patch: TicketPatch, tree: TagTree, pointer: string): Violation[] {
  const { input, addTagIds, removeTagIds } = patch;
  const violations = [
    ...unknownTags(tree, input.tagIds ?? [], `${pointer}/tagIds`),
    ...unknownTags(tree, addTagIds, `${pointer}/addTagIds`),
  ];
  if (input.tagIds !== undefined && addTagIds.length + removeTagIds.length > 0) {
    const detail = 'cannot be combined with addTagIds or removeTagIds';
    violations.push({ pointer: `${pointer}/tagIds`, code: 'conflicting_tags', detail });
  }
  addTagIds.forEach((id, index) => {
    if (!removeTagIds.includes(id)) return;
    const detail = `tag ${id} is also to be removed`;
    violations.push({ pointer: `${pointer}/addTagIds/${index}`, code: 'conflicting_tags', detail });
  });
  return violations;
}
