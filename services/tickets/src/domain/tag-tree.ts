import type { Priority } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { type TagReference, TagType, type TagVisibility } from '@ticketing/contracts/ticketing/tickets/v1/tag_pb.ts';

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
export interface TagTree {
  /** How many times changes of tags have been committed. */
  revision: number;
  get(id: number): TagState | undefined;
  all(): Iterable<TagState>;
  /** The tags directly below a tag; null: the top-level ones. */
  childrenOf(id: number | null): readonly TagState[];
  /** A tag and its ancestors, from the tag upwards; empty for an unknown tag. */
  pathToRoot(id: number): TagState[];
  /** How many levels the tag and its descendants have; 0 for an unknown tag. */
  heightOf(id: number): number;
  /** The names from the top-level ancestor down, joined by " / ". */
  fullName(tag: TagState): string;
  /** Whether a tag counts when tickets are matched to agents. */
  isRoutingSkill(id: number): boolean;
  /** The ids of all routing skills. */
  routingSkillIds: readonly number[];
}

/** How many levels the tree has at most. */
export const maxLevels = 100;

/** Builds the tree of tags. */
export function tagTree(tags: readonly TagState[], revision = 0): TagTree {
  const byId = new Map(tags.map((tag) => [tag.id, tag]));
  const isRoutingSkill = (id: number) => {
    const tag = byId.get(id);
    return tag !== undefined && tag.type === TagType.SKILL && tag.routingRelevant;
  };
  const byParent = Map.groupBy(tags, ({ parent }) => parent);
  const childrenOf = (id: number | null) => byParent.get(id) ?? [];
  const pathToRoot = (id: number) => {
    const line: TagState[] = [];
    for (let tag = byId.get(id); tag && line.length < maxLevels; tag = byId.get(tag.parent ?? 0)) line.push(tag);
    return line;
  };
  return {
    revision,
    get: (id) => byId.get(id),
    all: () => byId.values(),
    childrenOf,
    pathToRoot,
    heightOf(id) {
      let height = 0;
      let level = [id].filter((one) => byId.has(one));
      while (level.length > 0 && height < maxLevels) {
        height += 1;
        level = level.flatMap((one) => childrenOf(one).map((child) => child.id));
      }
      return height;
    },
    isRoutingSkill,
    routingSkillIds: tags.filter((tag) => isRoutingSkill(tag.id)).map((tag) => tag.id),
    fullName: (tag) =>
      [tag, ...pathToRoot(tag.parent ?? 0)]
        .slice(0, maxLevels)
        .map(({ name }) => name)
        .reverse()
        .join(' / '),
  };
}
