import type { Priority } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { type TagReference, TagType, type TagVisibility } from '@ticketing/contracts/ticketing/tickets/v1/tag_pb.ts';
import { maxLevels, type ParentTree, parentTree } from '@ticketing/runtime/parent-tree.ts';

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

/** Builds the tree of tags. */
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
