import { isDeepStrictEqual } from 'node:util';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import { openCollection } from '@ticketing/store/connection/open-collection.ts';
import { likePattern } from '@ticketing/store/document/field-query.ts';
import { removePresent } from '@ticketing/store/document/remove-present.ts';
import { isDuplicateKey, storeCall } from '@ticketing/store/document/store-error.ts';
import { uniqueWrites } from '@ticketing/store/document/unique-writes.ts';
import { slugInserts } from '@ticketing/store/ids/slug-inserts.ts';
import { fold } from '@ticketing/text/words.ts';
import type { Connection, mongo } from 'mongoose';
import type { SkillState } from './rules.ts';

/** The skills of this service. Errors of every operation: store_unavailable. */
export interface SkillStore {
  /** Adds a skill. If its slug is taken, adds a number to it with `mayNumber`, and returns false without. */
  add(skill: SkillState, mayNumber: boolean): Promise<boolean>;
  find(id: number): Promise<SkillState | undefined>;
  /**
   * Changes a skill, if a value differs. Returns `taken` if the slug is taken; undefined if there is no such skill. Units:
   * `now` in Unix seconds.
   */
  change(id: number, change: Partial<SkillState>, now: number): Promise<SkillState | 'taken' | undefined>;
  /** Returns whether the skill existed. */
  remove(id: number): Promise<boolean>;
  /** Returns the sizes of the skills on a page, by slug. `part`: of the name or the slug, without regard to case. */
  page(query: SkillQuery): Promise<{ total: number; sizes: { id: number; bytes: number }[] }>;
  /** Skills by their ids, in this order. */
  read(ids: readonly number[]): Promise<SkillState[]>;
}

/** Which skills to list. `owner`: its own and the shared ones. */
export interface SkillQuery {
  part: string;
  owner: number | undefined;
  limit: number;
  offset: number;
}

type SkillDocument = Partial<Omit<SkillState, 'id'>> & {
  _id: number;
  /** The owner, 0 for all: an index does not distinguish a missing value from null everywhere. */
  owner?: number;
  foldedName?: string;
  bytes?: number;
  deleted?: true;
};

const shared = 0;
const otherBytes = 300;

const skillCollection = (connection: Connection) => openCollection<SkillDocument>(connection, 'skills');

/** Builds the missing indexes of the skills. */
export async function buildSkillIndexes(connection: Connection): Promise<void> {
  const exists = { partialFilterExpression: { slug: { $exists: true } } };
  await skillCollection(connection).createIndexes([
    { key: { owner: 1, slug: 1 }, unique: true, ...exists },
    { key: { slug: 1, _id: 1 } },
  ]);
}

/** Opens the skills on a connection. */
export function skillStore(connection: Connection, runtime: Pick<Runtime, 'random'>): SkillStore {
  const skills = skillCollection(connection);
  const write = uniqueWrites(runtime);
  const inserts = slugInserts<SkillDocument & { slug: string }>(
    skills as never,
    ({ owner }) => ({ owner: owner ?? shared }),
    write,
  );

  return {
    add: (skill, mayNumber) =>
      storeCall(async () => {
        const document = { ...toDocument(skill), slug: skill.slug };
        if (!mayNumber) return inserts.insert(document);
        await inserts.insertNumbered(document);
        return true;
      }),
    find: (id) => storeCall(async () => fromDocument(await skills.findOne({ _id: id, deleted: { $exists: false } }))),
    change: (id, change, now) =>
      storeCall(() =>
        write(async () => {
          const filter = { _id: id, deleted: { $exists: false } };
          const before = fromDocument(await skills.findOne(filter));
          if (!before || isDeepStrictEqual(before, { ...before, ...change })) return before;
          const { _id, ...fields } = toDocument({ ...before, ...change, modifiedAt: now });
          try {
            return fromDocument(await skills.findOneAndUpdate(filter, { $set: fields }, { returnDocument: 'after' }));
          } catch (error) {
            if (!isDuplicateKey(error)) throw error;
            return 'taken';
          }
        }),
      ),
    remove: (id) =>
      storeCall(() => {
        // The remaining document keeps a repeated request from using the id again.
        const filter = { _id: id, deleted: { $exists: false } };
        return removePresent(
          async () => (await skills.replaceOne(filter, { deleted: true })).matchedCount === 1,
          async () => (await skills.countDocuments(filter, { limit: 1 })) > 0,
        );
      }),
    page: ({ part, owner, limit, offset }) =>
      storeCall(async () => {
        const filter = toFilter(part, owner);
        const options = { projection: { bytes: 1 }, sort: { slug: 1, _id: 1 }, skip: offset, limit } as const;
        const [total, page] = await Promise.all([
          skills.countDocuments(filter),
          skills.find(filter, options).toArray(),
        ]);
        return { total, sizes: page.map(({ _id, bytes }) => ({ id: _id, bytes: bytes ?? 0 })) };
      }),
    read: (ids) =>
      storeCall(async () => {
        const found = await skills.find({ _id: { $in: [...ids] }, deleted: { $exists: false } }).toArray();
        const byId = new Map(found.map((document) => [document._id, fromDocument(document)]));
        return ids.flatMap((id) => byId.get(id) ?? []);
      }),
  };
}

function toFilter(part: string, owner: number | undefined): mongo.Filter<SkillDocument> {
  const pattern = likePattern(`%${fold(part).replaceAll('%', '')}%`);
  const named = part === '' ? [] : [{ $or: [{ foldedName: { $regex: pattern } }, { slug: { $regex: pattern } }] }];
  const owned = owner === undefined ? [] : [{ owner: { $in: [shared, owner] } }];
  return { $and: [{ slug: { $exists: true } }, ...named, ...owned] } as mongo.Filter<SkillDocument>;
}

function toDocument({ id, ...skill }: SkillState): SkillDocument {
  const texts = [skill.name, skill.description ?? '', skill.content ?? ''];
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), otherBytes);
  return { _id: id, ...skill, owner: skill.aiAgentId ?? shared, foldedName: fold(skill.name), bytes };
}

function fromDocument(document: SkillDocument | null): SkillState | undefined {
  if (!document || document.deleted) return undefined;
  const { _id, owner: _owner, foldedName: _foldedName, bytes: _bytes, deleted: _deleted, ...skill } = document;
  return { id: _id, ...(skill as Omit<SkillState, 'id'>) };
}
