import { TagReference, TagType, TagVisibility } from '@ticketing/contracts/ticketing/tickets/v1/tag_pb.ts';
import type { TagState } from '../src/tag/rules.ts';

/** A tag with default values. */
export function tagState(id: number, parent: number | null = null, given: Partial<TagState> = {}): TagState {
  return {
    id,
    version: 1,
    name: `Tag ${id}`,
    parent,
    reference: TagReference.TICKET,
    type: TagType.SKILL,
    visibility: TagVisibility.PUBLIC,
    color: null,
    routingRelevant: true,
    sla: null,
    firstResponseSla: null,
    priority: null,
    keywords: [],
    modifiedAt: 0,
    ...given,
  };
}
