import type { Runtime } from '@ticketing/runtime/runtime.ts';
import { storeCall } from '@ticketing/store/document/store-error.ts';
import type { Connection } from 'mongoose';
import { type GenerationStore, openRowGenerations } from './generations.ts';
import { type AdmitPage, countRows, type RowFilter, type RowRequest, readPages } from './read.ts';
import { type RowDocument, rowCollection } from './schema.ts';
import { eraseRow, putRows, type RowsToPut } from './write.ts';

/**
 * The rows of this service: one for each ticket, and a mark for each erased ticket. During a rebuild there are two
 * generations of them; only the active one is read, both are written.
 *
 * Errors of every operation: store_unavailable.
 */
export interface RowStore extends GenerationStore {
  /**
   * Writes rows, except those whose stored row is newer or was erased. Returns the ids of the rows that must be read
   * again, because the stored row has a newer version but older tag names, or the other way round.
   */
  put(rows: RowsToPut): Promise<number[]>;
  /** Erases the row of a ticket, so that no row of this version or an older one can be written later. */
  erase(id: number, version: number): Promise<void>;
  /** Removes a row whose ticket does not exist, unless the row has a newer version by now. */
  remove(id: number, version: number): Promise<void>;
  /** Returns the ids above `afterId`, in order, of the rows that show the name of a tag. */
  idsWithTag(tagId: number, afterId: number, limit: number): Promise<number[]>;
  /** Returns the given ids whose rows were erased. */
  erasedAmong(ids: readonly number[]): Promise<Set<number>>;
  /** Counts the rows that match. Errors: search_too_slow. */
  count(filter: RowFilter): Promise<number>;
  /**
   * Reads rows in pages of at most 200 rows and 1 MiB of raw data; a page of one row may have more. `admit` is called
   * before the raw data of a page is read. Errors: search_too_slow; those of `admit`.
   */
  pages(request: RowRequest, admit?: AdmitPage): AsyncGenerator<RowDocument[]>;
  /** Returns the versions of the rows of a generation with ids above `afterId`, up to and including `upToId`. */
  versions(generation: number, afterId: number, upToId: number): Promise<RowVersion[]>;
}

/** The version of a row. */
export interface RowVersion {
  id: number;
  version: number;
  isErased: boolean;
}

/** Opens the rows on a connection. */
export function rowStore(connection: Connection, runtime: Pick<Runtime, 'now' | 'random'>): RowStore {
  const generations = openRowGenerations(connection);
  return {
    ...generations.store,
    put: (rows) =>
      storeCall(async () => {
        const toReadAgain = new Set<number>();
        for (const collection of await generations.writeCollections()) {
          for (const id of await putRows(collection, rows)) toReadAgain.add(id);
        }
        return [...toReadAgain];
      }),
    erase: (id, version) =>
      storeCall(async () => {
        const erased = { id, version, erasedAt: new Date(runtime.now()) };
        for (const collection of await generations.writeCollections()) {
          await eraseRow(collection, erased, runtime);
        }
      }),
    remove: (id, version) =>
      storeCall(async () => {
        const filter = { _id: id, version: { $lte: version } };
        for (const collection of await generations.writeCollections()) await collection.deleteOne(filter);
      }),
    idsWithTag: (tagId, afterId, limit) =>
      storeCall(async () => {
        const ids = new Set<number>();
        for (const collection of await generations.writeCollections()) {
          const query = { tagPathIds: tagId, _id: { $gt: afterId } };
          const found = await collection.find(query, { projection: { _id: 1 }, sort: { _id: 1 }, limit }).toArray();
          for (const { _id } of found) ids.add(_id);
        }
        return [...ids].sort((left, right) => left - right).slice(0, limit);
      }),
    erasedAmong: (ids) =>
      storeCall(async () => {
        const query = { _id: { $in: [...ids] }, erasedAt: { $exists: true } };
        const collection = await generations.readCollection();
        const found = await collection.find(query, { projection: { _id: 1 } }).toArray();
        return new Set(found.map(({ _id }) => _id));
      }),
    count: (filter) => storeCall(async () => countRows(await generations.readCollection(), filter)),
    async *pages(request, admit) {
      yield* readPages(await storeCall(generations.readCollection), request, admit);
    },
    versions: (generation, afterId, upToId) =>
      storeCall(async () => {
        const query = { _id: { $gt: afterId, $lte: upToId } };
        const projection = { version: 1, erasedAt: 1 };
        const found = await rowCollection(connection, generation)
          .find(query, { projection, sort: { _id: 1 } })
          .toArray();
        return found.map(({ _id, version, erasedAt }) => ({ id: _id, version, isErased: erasedAt !== undefined }));
      }),
  };
}
