import type { Priority } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { type TagReference, TagType, type TagVisibility } from '@ticketing/contracts/ticketing/tickets/v1/tag_pb.ts';
import { DomainError, invalidInput, type Violation } from '@ticketing/errors/domain-error.ts';
import { maxLevels, type ParentTree, parentProblem, parentTree } from '@ticketing/runtime/parent-tree.ts';
import type { EventActor, EventHeader } from '../rules/event-header.ts';

/** A tag. Enums have their numbers in the contract. */
export interface TagState {
  id: number;
  /** Every change raises it by one. */
  version: number;
  name: string;
  parent: number | null;
  reference: TagReference;
  type: TagType;
  visibility: TagVisibility;
  color: string | null;
  routingRelevant: boolean;
  /** Seconds of business hours. */
  sla: number | null;
  /** Seconds of business hours. */
  firstResponseSla: number | null;
  priority: Priority | null;
  keywords: readonly string[];
  /** Unix seconds. */
  modifiedAt: number;
}

/** All tags, with their relations in the tree. */
export interface TagTree extends ParentTree<TagState> {
  /** How many times changes of tags have been committed. */
  revision: number;
  /** The names from the top-level ancestor down, joined by " / ". */
  fullName(tag: TagState): string;
  /** Whether a tag counts when tickets are matched to agents. */
  isRoutingSkill(id: number): boolean;
  /** The ids of all routing skills. */
  routingSkillIds: readonly number[];
}

export function tagTree(tags: readonly TagState[], revision = 0): TagTree {
  const tree = parentTree(new Map(tags.map((tag) => [tag.id, tag])));
  const isRoutingSkill = (id: number) => {
    const tag = tree.get(id);
    return tag !== undefined && tag.type === TagType.SKILL && tag.routingRelevant;
  };
  return {
    ...tree,
    revision,
    isRoutingSkill,
    routingSkillIds: tags.filter((tag) => isRoutingSkill(tag.id)).map((tag) => tag.id),
    fullName: (tag) =>
      [tag, ...tree.pathToRoot(tag.parent ?? 0)]
        .slice(0, maxLevels)
        .map(({ name }) => name)
        .reverse()
        .join(' / '),
  };
}

/** The fields of a tag that a request sets. Fields that it does not mention are missing. */
export type TagInput = Partial<Omit<TagState, 'id' | 'version' | 'modifiedAt'>>;

/**
 * Sets fields of a tag. If no value differs, the result is the same object, with its old version.
 *
 * Units: `now` in Unix seconds.
 */
export function changeTag(before: TagState, input: TagInput, now: number): TagState {
  const after = { ...before, ...input };
  if (JSON.stringify(after) === JSON.stringify(before)) return before;
  return { ...after, version: before.version + 1, modifiedAt: now };
}

/**
 * Checks the parent and the name of a tag.
 *
 * Errors: too_short, unknown_tag, tag_cycle, tag_too_deep; duplicate_tag. Source: docs/reference/api.md, Tags.
 */
export function requireValidNameAndParent(tree: TagTree, tag: Pick<TagState, 'id' | 'name' | 'parent'>): void {
  const violations = [...nameViolations(tag.name), ...parentViolations(tree, tag.id, tag.parent)];
  if (violations.length > 0) throw invalidInput(violations);
  const namesake = tree.findChildren(tag.parent).find(({ id, name }) => id !== tag.id && isSameName(name, tag.name));
  if (namesake) {
    throw new DomainError('already_exists', 'duplicate_tag', 'A tag of this name exists under the same parent.');
  }
}

/** Requires that no tag has this one as its parent. Errors: tag_has_children. */
export function requireChildless(tree: TagTree, id: number): void {
  if (tree.findChildren(id).length === 0) return;
  throw new DomainError('failed_precondition', 'tag_has_children', 'There are tags below this tag.');
}

/** A violation for each id that no tag has. `pointer` is that of the list in the request. */
export function unknownTags(tree: TagTree, ids: readonly number[], pointer: string): Violation[] {
  return ids.flatMap((id, index) => (tree.get(id) ? [] : [unknownTag(id, `${pointer}/${index}`)]));
}

function unknownTag(id: number, pointer: string): Violation {
  return { pointer, code: 'unknown_tag', detail: `tag ${id} does not exist` };
}

function nameViolations(name: string): Violation[] {
  return name === '' ? [{ pointer: '#/name', code: 'too_short', detail: 'must not be blank' }] : [];
}

function parentViolations(tree: TagTree, id: number, parent: number | null): Violation[] {
  const problem = parentProblem(tree, id, parent);
  if (parent === null || problem === undefined) return [];
  const pointer = '#/parent';
  switch (problem) {
    case 'unknown':
      return [unknownTag(parent, pointer)];
    case 'cycle':
      return [{ pointer, code: 'tag_cycle', detail: `tag ${parent} is tag ${id} itself, or below it` }];
    case 'too_deep':
      return [{ pointer, code: 'tag_too_deep', detail: `the tree would have more than ${maxLevels} levels` }];
  }
}

/** Names that differ only in case or in their Unicode form are the same. */
function isSameName(left: string, right: string): boolean {
  return nameKey(left) === nameKey(right);
}

function nameKey(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

/** The stored fields of a deleted tag. Units: `cleanUpUntil` in Unix seconds. */
export interface DeletedTag {
  id: number;
  version: number;
  deleted: true;
  /**
   * The time until which the cleanup looks for tickets with the tag: a request that began before its deletion may still
   * write one.
   */
  cleanUpUntil: number;
  /** The actor that deleted it. The cleanup changes tickets in the name of this actor. */
  deletedBy: EventActor;
}

/** A change of one tag: its state afterwards, and the event. */
export interface TagChange {
  tag: TagState | DeletedTag;
  event: TagEvent;
}

/** Applies a change to the tags by id. */
export function applyTagChange(tags: Map<number, TagState>, { tag }: Pick<TagChange, 'tag'>): void {
  if ('deleted' in tag) tags.delete(tag.id);
  else tags.set(tag.id, tag);
}

/** An event of a tag. The outbox holds it until the relay sends it. Units: `occurredAt` in Unix seconds. */
export interface TagEvent {
  eventId: string;
  /** The version of the tag after it. */
  version: number;
  occurredAt: number;
  deleted: boolean;
  /** The trace of the request that caused it. */
  traceparent?: string;
}

export function tagChangedEvent({ version, modifiedAt }: TagState, header: EventHeader): TagEvent {
  return event(version, modifiedAt, false, header);
}

/** Makes the event of a deletion. Units: `now` in Unix seconds. */
export function tagDeletedEvent(version: number, now: number, header: EventHeader): TagEvent {
  return event(version, now, true, header);
}

function event(version: number, occurredAt: number, deleted: boolean, { eventId, traceparent }: EventHeader): TagEvent {
  return { eventId, version, occurredAt, deleted, ...(traceparent === undefined ? {} : { traceparent }) };
}
