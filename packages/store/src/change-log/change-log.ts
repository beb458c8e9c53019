/**
 * The last changes of the items of one kind, in the order in which they were committed. The log is one document: one write
 * commits changes, and it succeeds only if no other changes were committed since the log was read.
 */
export interface ChangeLog<Change> {
  /** How often changes have been committed. */
  revision: number;
  /** The last change of each item that was changed after `completeAfter`, with the revision of its commit. */
  changes: readonly (Change & { revision: number })[];
  /** The revision after which the log has the last change of every item. */
  completeAfter: number;
}

/** How a change changes the items of its kind. */
export interface ChangeKind<Item, Change> {
  /** Returns the id of the item that a change is about. */
  readId(change: Change): number;
  /** Applies a change to the items by id. */
  applyTo(items: Map<number, Item>, change: Change): void;
}

/** The log before the first change. */
export const emptyLog: ChangeLog<never> = { revision: 0, changes: [], completeAfter: 0 };

/** How many changes a log has at most. */
export const maxChanges = 20;

/** Adds changes that are committed together to a log: at most one of each item, and `maxChanges` in all. */
export function appendChanges<Change>(
  log: ChangeLog<Change>,
  changes: readonly Change[],
  readId: (change: Change) => number,
): ChangeLog<Change> {
  const revision = log.revision + 1;
  const changed = new Set(changes.map(readId));
  const others = log.changes.filter((change) => !changed.has(readId(change)));
  const keptFrom = Math.max(0, others.length + changes.length - maxChanges);
  return {
    revision,
    changes: [...others.slice(keptFrom), ...changes.map((change) => ({ revision, ...change }))],
    completeAfter: others[keptFrom - 1]?.revision ?? log.completeAfter,
  };
}

/**
 * Returns the items at the revision of a log, made from those at an earlier revision, which must be at least
 * `completeAfter`.
 */
export function itemsAfter<Item, Change>(
  items: ReadonlyMap<number, Item>,
  revision: number,
  { changes }: ChangeLog<Change>,
  applyTo: ChangeKind<Item, Change>['applyTo'],
): Map<number, Item> {
  const after = new Map(items);
  for (const change of changes) if (change.revision > revision) applyTo(after, change);
  return after;
}
