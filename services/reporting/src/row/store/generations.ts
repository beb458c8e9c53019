import { openCollection } from '@ticketing/store/connection/open-collection.ts';
import { storeCall } from '@ticketing/store/document/store-error.ts';
import type { Connection, mongo } from 'mongoose';
import { buildRowIndexes, type RowDocument, rowCollection } from './schema.ts';

/** Which generations of the rows exist: the active one, which is read, and the one that a rebuild fills, if any. */
export interface Generations {
  active: number;
  building: number | null;
}

/** The generations of the rows, and how a rebuild replaces them. Errors of every operation: store_unavailable. */
export interface GenerationStore {
  generations(): Promise<Generations>;
  /** Creates the generation of a rebuild, or returns the one that an interrupted rebuild has created. */
  startBuilding(): Promise<number>;
  /** Activates the generation that was built, and drops the previous one. */
  finishBuilding(generation: number): Promise<void>;
  /** Drops generations that are neither active nor being built; a crash or a late write may have left them. */
  dropOldGenerations(): Promise<void>;
}

/** The generations, and the collections of rows that follow from them. */
export interface RowGenerations {
  store: GenerationStore;
  /** Opens the collection to read from: the active generation. */
  readCollection(): Promise<mongo.Collection<RowDocument>>;
  /** Returns the collections to write to: the active generation, and the generation that is being built. */
  writeCollections(): Promise<mongo.Collection<RowDocument>[]>;
}

interface GenerationsDocument extends Generations {
  _id: string;
}

const generationsId = 'rows';

/** Opens the generations on a connection. */
export function openRowGenerations(connection: Connection): RowGenerations {
  const projections = openCollection<GenerationsDocument>(connection, 'projections');

  async function generations(): Promise<Generations> {
    const stored = await projections.findOne({ _id: generationsId });
    return { active: stored?.active ?? 1, building: stored?.building ?? null };
  }

  async function dropOld(): Promise<void> {
    const collections = await connection.listCollections();
    // Read after the list: a generation that a rebuild starts in between is not in the list.
    const { active, building } = await generations();
    for (const { name } of collections) {
      const generation = Number(/^rows(\d+)$/.exec(name)?.[1] ?? Number.NaN);
      if (generation < active && generation !== building) await connection.dropCollection(name);
    }
  }

  async function startBuilding(): Promise<number> {
    const { active, building: existing } = await generations();
    if (existing !== null) return existing;
    const building = active + 1;
    await buildRowIndexes(connection, building);
    await projections.updateOne({ _id: generationsId }, { $set: { active, building } }, { upsert: true });
    return building;
  }

  async function finishBuilding(generation: number): Promise<void> {
    const { active } = await generations();
    const switched = await projections.updateOne(
      { _id: generationsId, active, building: generation },
      { $set: { active: generation, building: null } },
    );
    if (switched.matchedCount === 1) await dropOld();
  }

  return {
    store: {
      generations: () => storeCall(generations),
      startBuilding: () => storeCall(startBuilding),
      finishBuilding: (generation) => storeCall(() => finishBuilding(generation)),
      dropOldGenerations: () => storeCall(dropOld),
    },
    readCollection: async () => rowCollection(connection, (await generations()).active),
    async writeCollections() {
      const { active, building } = await generations();
      const all = building === null ? [active] : [active, building];
      return all.map((generation) => rowCollection(connection, generation));
    },
  };
}
