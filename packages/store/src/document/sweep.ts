/**
 * Finds and settles writes of several documents that a process left half done when it died: another process finishes or
 * undoes them.
 *
 * Source: packages/store/src/document/README.md, Writes of several documents.
 */
export interface Sweep<Leftover> {
  /** How many are settled at once. */
  batch: number;
  /** Finds the oldest whose writer can no longer be at work. */
  find(limit: number): Promise<readonly Leftover[]>;
  /** Settles them, so that `find` no longer returns them. Other processes may settle the same ones at the same time. */
  settle(leftovers: readonly Leftover[]): Promise<void>;
}

/** Settles all that is left half done now. Errors: those of `find` and `settle`; the next sweep goes on then. */
export async function sweep<Leftover>({ batch, find, settle }: Sweep<Leftover>): Promise<void> {
  for (;;) {
    const leftovers = await find(batch);
    if (leftovers.length > 0) await settle(leftovers);
    if (leftovers.length < batch) return;
  }
}
