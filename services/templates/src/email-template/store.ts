import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import { removePresent } from '@ticketing/store/document/remove-present.ts';
import { isDuplicateKey, storeCall } from '@ticketing/store/document/store-error.ts';
import { uniqueWrites } from '@ticketing/store/document/unique-writes.ts';
import type { Connection } from 'mongoose';
import type { EmailTemplateState } from './rules.ts';
import { type EmailTemplateDocument, emailTemplateModel, toFields } from './schema.ts';

/** The id of an e-mail template, before its text is read. Units: bytes of the text. */
export interface EmailTemplateEntry {
  id: number;
  bytes: number;
}

/** The e-mail templates. Errors of every operation: store_unavailable. */
export interface EmailTemplateStore {
  /** Adds an e-mail template, unless one with this id exists. Errors: duplicate_email_template. */
  add(template: EmailTemplateState): Promise<void>;
  find(id: number): Promise<EmailTemplateState | undefined>;
  /** Changes an e-mail template; undefined if there is none. Errors: duplicate_email_template. */
  change(id: number, change: Partial<Omit<EmailTemplateState, 'id'>>): Promise<EmailTemplateState | undefined>;
  /** Returns whether it existed. */
  remove(id: number): Promise<boolean>;
  /** Returns a page in the order of ids, and the total. */
  list(offset: number, limit: number): Promise<{ total: number; entries: EmailTemplateEntry[] }>;
  /** Returns the sizes of the given e-mail templates that exist. */
  sizes(ids: readonly number[]): Promise<EmailTemplateEntry[]>;
  /** Reads the given e-mail templates that exist, in the order of their ids. */
  findSome(ids: readonly number[]): Promise<EmailTemplateState[]>;
}

/** Opens the e-mail templates on a connection. */
export function emailTemplateStore(connection: Connection, runtime: Pick<Runtime, 'random'>): EmailTemplateStore {
  const templates = emailTemplateModel(connection);
  const uniqueWrite = uniqueWrites(runtime);

  const writeName = async <Result>(write: () => Promise<Result>): Promise<Result> => {
    try {
      return await storeCall(() => uniqueWrite(write));
    } catch (error) {
      throw isDuplicateKey(error) ? duplicateName(error) : error;
    }
  };

  const toEntries = (documents: readonly EmailTemplateDocument[]) =>
    documents.map(({ _id, bytes }) => ({ id: _id, bytes }));

  return {
    add: ({ id, ...state }) =>
      writeName(async () => {
        if ((await templates.exists({ _id: id })) !== null) return;
        await templates.collection.insertOne({ _id: id, ...toFields(state) } as never);
      }),
    find: (id) => storeCall(async () => fromDocument(await templates.findById(id).lean<EmailTemplateDocument>())),
    change: (id, change) =>
      writeName(async () => {
        const update = { $set: toFields(change) };
        return fromDocument(
          await templates
            .findOneAndUpdate({ _id: id }, update, { returnDocument: 'after' })
            .lean<EmailTemplateDocument>(),
        );
      }),
    remove: (id) =>
      storeCall(() =>
        removePresent(
          async () => (await templates.deleteOne({ _id: id })).deletedCount === 1,
          async () => (await templates.exists({ _id: id })) !== null,
        ),
      ),
    list: (offset, limit) =>
      storeCall(async () => {
        const [total, page] = await Promise.all([
          templates.countDocuments(),
          templates.find({}, { bytes: 1 }).sort({ _id: 1 }).skip(offset).limit(limit).lean<EmailTemplateDocument[]>(),
        ]);
        return { total, entries: toEntries(page) };
      }),
    sizes: async (ids) =>
      ids.length === 0
        ? []
        : storeCall(async () =>
            toEntries(await templates.find({ _id: { $in: [...ids] } }, { bytes: 1 }).lean<EmailTemplateDocument[]>()),
          ),
    findSome: async (ids) => {
      if (ids.length === 0) return [];
      const find = () =>
        templates
          .find({ _id: { $in: [...ids] } })
          .sort({ _id: 1 })
          .lean<EmailTemplateDocument[]>();
      return (await storeCall(find)).flatMap((one) => fromDocument(one) ?? []);
    },
  };
}

function fromDocument(document: EmailTemplateDocument | null): EmailTemplateState | undefined {
  return document ? { id: document._id, name: document.name, template: document.template } : undefined;
}

function duplicateName(cause: unknown): DomainError {
  const detail = 'There is an e-mail template of this name.';
  return new DomainError('already_exists', 'duplicate_email_template', detail, { cause });
}
