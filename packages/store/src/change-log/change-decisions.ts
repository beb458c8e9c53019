import type { ChangeKind } from './change-log.ts';

/** Decides on a change of one item. It may be called again for another tree. Undefined: no change is needed. */
export type Decide<Change, Tree> = (tree: Tree) => Change | undefined | Promise<Change | undefined>;

/** A caller that waits for its change. */
export interface WaitingChange<Change, Tree> {
  decide: Decide<Change, Tree>;
  resolve(tree: Tree): void;
  reject(error: unknown): void;
}

/** The result of the decisions of several callers, made one after the other. */
export interface Decisions<Change, Tree> {
  changes: Change[];
  /** The callers who have decided, with a change or without one. */
  decided: WaitingChange<Change, Tree>[];
  /** The callers whose decision is an error. */
  failed: { waiting: WaitingChange<Change, Tree>; error: unknown }[];
  /**
   * The callers who have to wait for the next commit, as the first of them changes an item that is in `changes` already.
   */
  postponed: WaitingChange<Change, Tree>[];
}

/** Lets each caller decide on the items as changed by the callers before it. */
export async function decideSequentially<Item, Change, Tree>(
  before: ReadonlyMap<number, Item>,
  callers: readonly WaitingChange<Change, Tree>[],
  { readId, applyTo, makeTree }: ChangeKind<Item, Change> & { makeTree(items: ReadonlyMap<number, Item>): Tree },
): Promise<Decisions<Change, Tree>> {
  const items = new Map(before);
  const decisions: Decisions<Change, Tree> = { changes: [], decided: [], failed: [], postponed: [] };
  for (const [index, waiting] of callers.entries()) {
    try {
      const change = await waiting.decide(makeTree(items));
      if (change !== undefined && decisions.changes.some((earlier) => readId(earlier) === readId(change))) {
        decisions.postponed.push(...callers.slice(index));
        break;
      }
      decisions.decided.push(waiting);
      if (change === undefined) continue;
      decisions.changes.push(change);
      applyTo(items, change);
    } catch (error) {
      decisions.failed.push({ waiting, error });
    }
  }
  return decisions;
}
