import type { EventActor } from '../../ticket/rules/event.ts';
import type { TagEvent } from './event.ts';
import type { TagState } from './tree.ts';

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
