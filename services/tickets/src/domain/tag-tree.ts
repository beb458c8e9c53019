import type { Priority } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { type TagReference, TagType, type TagVisibility } from '@ticketing/contracts/ticketing/tickets/v1/tag_pb.ts';

/** A tag as it is kept. Enums are kept by their numbers in the contract. */
export interface TagState {
  id: number;
  name: string;
  parent: number | null;
  reference: TagReference;
  type: TagType;
  visibility: TagVisibility;
  color: string | null;
  routingRelevant: boolean;
  sla: number | null;
  priority: Priority | null;
  keywords: readonly string[];
  /** Unix seconds. */
  modifiedAt: number;
}

/** All tags, and the names that their place in the tree gives them. */
export interface TagTree {
  get(id: number): TagState | undefined;
  all(): Iterable<TagState>;
  /** The names from the top-level ancestor down, joined by " / ". */
  fullName(tag: TagState): string;
  /** Whether a tag counts when tickets are matched to agents. */
  isRoutingSkill(id: number): boolean;
  /** The ids of all tags that count for that. */
  routingSkillIds: readonly number[];
}

const deepest = 100;

/** Builds the tree of tags. */
export function tagTree(tags: readonly TagState[]): TagTree {
  const byId = new Map(tags.map((tag) => [tag.id, tag]));
  const isRoutingSkill = (id: number) => {
    const tag = byId.get(id);
    return tag !== undefined && tag.type === TagType.SKILL && tag.routingRelevant;
  };
  return {
    get: (id) => byId.get(id),
    all: () => byId.values(),
    isRoutingSkill,
    routingSkillIds: tags.filter((tag) => isRoutingSkill(tag.id)).map((tag) => tag.id),
    fullName(tag) {
      const names = [tag.name];
      let parent = tag.parent === null ? undefined : byId.get(tag.parent);
      while (parent && names.length < deepest) {
        names.unshift(parent.name);
        parent = parent.parent === null ? undefined : byId.get(parent.parent);
      }
      return names.join(' / ');
    },
  };
}
