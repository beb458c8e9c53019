import type { AttachmentState } from '@ticketing/files/attachment.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import { escapePattern, type Query } from '@ticketing/store/document/field-query.ts';
import { removePresent } from '@ticketing/store/document/remove-present.ts';
import { conflict, retryOnConflict } from '@ticketing/store/document/retry-on-conflict.ts';
import { isDuplicateKey, storeCall, translateTimeLimit } from '@ticketing/store/document/store-error.ts';
import type { Connection } from 'mongoose';
import type { TemplateChange, TemplateState } from './rules.ts';
import { fromDocument, type TemplateDocument, templateModel, toDocument } from './schema.ts';

/** Selects the templates whose texts contain `q`, without regard to case, and that have a tag. */
export interface TemplateFilter {
  q: string | undefined;
  tagId: number | undefined;
}

/** A template of a page, before it is read. */
export type TemplateEntry = Pick<TemplateState, 'id' | 'emailTemplateId'> & { bytes: number };

/** Says how to change a template as it is now. It may be called more than once. */
export type DecideTemplate = (current: TemplateState) => TemplateChange | Promise<TemplateChange>;

/** A field with ids of things that may be deleted; the ids of deleted things are dropped. */
export type TemplateReference = 'tagId' | 'emailTemplateId' | 'exampleTicketIds';

/** The response templates. Errors of every operation: store_unavailable. */
export interface TemplateStore {
  /** Adds a template, unless one with this id exists. */
  add(template: TemplateState): Promise<void>;
  find(id: number): Promise<TemplateState | undefined>;
  /** Returns the files that a template lists; none if there is no such template. */
  readFiles(id: number): Promise<readonly AttachmentState[]>;
  /** Returns the keys of the files that a template lists, by which the sweeper knows the others. */
  readFileKeys(id: number): Promise<Set<string>>;
  /**
   * Changes a template; undefined if there is none. Errors: what `decide` throws; concurrent_change, if too many other
   * changes come first.
   */
  change(id: number, decide: DecideTemplate): Promise<TemplateState | undefined>;
  /** Returns whether the template existed. */
  remove(id: number): Promise<boolean>;
  /** Returns a page by id, and how many match. Errors: search_too_slow. */
  list(filter: TemplateFilter, offset: number, limit: number): Promise<{ total: number; entries: TemplateEntry[] }>;
  /** Reads the given templates that exist, in the order of their ids. */
  findSome(ids: readonly number[]): Promise<TemplateState[]>;
  /** Drops the given ids from a field of all templates. */
  drop(reference: TemplateReference, ids: readonly number[]): Promise<void>;
}

const tooOften = 'The template was changed by others at the same time.';
const maxQueryMs = 5_000;

/** Opens the response templates on a connection. */
export function templateStore(connection: Connection, runtime: Pick<Runtime, 'random'>): TemplateStore {
  const templates = templateModel(connection);

  async function find(id: number): Promise<TemplateState | undefined> {
    const found = await templates.findById(id).lean<TemplateDocument>();
    return found ? fromDocument(found) : undefined;
  }

  function readFiles(id: number): Promise<readonly AttachmentState[]> {
    return storeCall(async () => {
      const document = await templates.findById(id, { attachments: 1 }).lean<Pick<TemplateDocument, 'attachments'>>();
      return document?.attachments ?? [];
    });
  }

  /** Returns false if another request has changed it first. */
  async function write(before: TemplateState, after: TemplateState): Promise<boolean> {
    const { _id, ...fields } = toDocument(after);
    const { matchedCount } = await templates.updateOne({ _id, version: before.version }, { $set: fields });
    return matchedCount === 1;
  }

  async function attemptChange(
    id: number,
    decide: DecideTemplate,
  ): Promise<TemplateState | undefined | typeof conflict> {
    const before = await storeCall(() => find(id));
    if (!before) return undefined;
    const after = { ...before, ...(await decide(before)), version: before.version + 1 };
    return (await storeCall(() => write(before, after))) ? after : conflict;
  }

  return {
    add: (template) =>
      storeCall(async () => {
        try {
          await templates.collection.insertOne(toDocument(template) as never);
        } catch (error) {
          if (!isDuplicateKey(error)) throw error;
        }
      }),
    find: (id) => storeCall(() => find(id)),
    readFiles,
    readFileKeys: async (id) => new Set((await readFiles(id)).map(({ key }) => key)),
    change: (id, decide) => retryOnConflict(runtime, tooOften, () => attemptChange(id, decide)),
    remove: (id) =>
      storeCall(() =>
        removePresent(
          async () => (await templates.deleteOne({ _id: id })).deletedCount === 1,
          async () => (await templates.exists({ _id: id })) !== null,
        ),
      ),
    list: (filter, offset, limit) =>
      storeCall(() =>
        translateTimeLimit('Search for another text, or by a tag.', async () => {
          const query = toQuery(filter);
          const projection = { emailTemplateId: 1, bytes: 1 };
          const options = { maxTimeMS: maxQueryMs };
          const [total, page] = await Promise.all([
            templates.countDocuments(query, options),
            templates
              .find(query, projection, options)
              .sort({ _id: 1 })
              .skip(offset)
              .limit(limit)
              .lean<TemplateDocument[]>(),
          ]);
          return {
            total,
            entries: page.map(({ _id, emailTemplateId, bytes }) => ({ id: _id, emailTemplateId, bytes })),
          };
        }),
      ),
    findSome: (ids) =>
      storeCall(async () => {
        const found = await templates
          .find({ _id: { $in: [...ids] } })
          .sort({ _id: 1 })
          .lean<TemplateDocument[]>();
        return found.map(fromDocument);
      }),
    drop: (reference, ids) =>
      storeCall(async () => {
        const named = { $in: [...ids] };
        const update =
          reference === 'exampleTicketIds' ? { $pull: { [reference]: named } } : { $set: { [reference]: null } };
        // Raises the version, so that a change that has read the dropped ids is made again.
        if (ids.length > 0) await templates.updateMany({ [reference]: named }, { ...update, $inc: { version: 1 } });
      }),
  };
}

function toQuery({ q, tagId }: TemplateFilter): Query {
  const pattern = { $regex: escapePattern(q ?? ''), $options: 'i' };
  return {
    ...(q ? { $or: [{ description: pattern }, { subject: pattern }, { message: pattern }] } : {}),
    ...(tagId === undefined ? {} : { tagId }),
  };
}
