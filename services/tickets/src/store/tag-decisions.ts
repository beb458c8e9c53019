import { applyTagChange, type TagChange } from '../domain/tag-change.ts';
import { type TagState, type TagTree, tagTree } from '../domain/tag-tree.ts';

/** Decides on a change of one tag. It may be called again for another tree. Undefined: no change is needed. */
export type DecideTag = (tree: TagTree) => TagChange | undefined | Promise<TagChange | undefined>;

/** A caller that waits for its change. */
export interface WaitingChange {
  decide: DecideTag;
  resolve(tree: TagTree): void;
  reject(error: unknown): void;
}

/** The result of the decisions of several callers, made one after the other. */
export interface TagDecisions {
  changes: TagChange[];
  /** The callers who have decided, with a change or without one. */
  decided: WaitingChange[];
  /** The callers whose decision is an error. */
  failed: { waiting: WaitingChange; error: unknown }[];
  /**
   * The callers who have to wait for the next commit, as the first of them changes a tag that is in `changes` already.
   */
  postponed: WaitingChange[];
}

/** Lets each caller decide on the tags as changed by the callers before it. */
export async function decideSequentially(
  before: ReadonlyMap<number, TagState>,
  callers: readonly WaitingChange[],
): Promise<TagDecisions> {
  const tags = new Map(before);
  const decisions: TagDecisions = { changes: [], decided: [], failed: [], postponed: [] };
  for (const [index, waiting] of callers.entries()) {
    try {
      const change = await waiting.decide(tagTree([...tags.values()]));
      if (decisions.changes.some(({ tag }) => tag.id === change?.tag.id)) {
        decisions.postponed.push(...callers.slice(index));
        break;
      }
      decisions.decided.push(waiting);
      if (!change) continue;
      decisions.changes.push(change);
      applyTagChange(tags, change);
    } catch (error) {
      decisions.failed.push({ waiting, error });
    }
  }
  return decisions;
}
