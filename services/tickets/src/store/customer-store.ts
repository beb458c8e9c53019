import { retryUpsert, storeCall } from '@ticketing/store/store-error.ts';
import { type Connection, type Model, type mongo, Schema } from 'mongoose';

/** A customer of the embedded ERP system. */
export interface CustomerDocument {
  /** The id. */
  _id: string;
  /** The customer in JSON. */
  content: string;
  /** What it is found by, in folded form: `email=ada@example.org`. */
  keys: string[];
  /** The words of the full text search. */
  words: string[];
}

/** Which customers to find: those that have any of some keys, or all keys, and a word for each beginning. */
export interface CustomerConditions {
  anyKey?: readonly string[];
  keys?: readonly string[];
  wordBeginnings?: readonly string[];
}

/** The customers of the embedded ERP system. Errors of every operation: store_unavailable. */
export interface CustomerStore {
  isEmpty(): Promise<boolean>;
  find(id: string): Promise<string | undefined>;
  /** The customers that match, by id, each in JSON. */
  list(conditions: CustomerConditions, page: { limit: number; offset: number }): Promise<string[]>;
  count(conditions: CustomerConditions): Promise<number>;
  /** Adds customers, and replaces those with the same ids. */
  replace(customers: readonly CustomerDocument[]): Promise<{ created: number; updated: number; unchanged: number }>;
}

const collectionName = 'customers';

/** The model of the customers on a connection. */
export function customerModel(connection: Connection): Model<CustomerDocument> {
  const schema = new Schema<CustomerDocument>(
    { _id: String, content: String, keys: [String], words: [String] },
    { versionKey: false, strict: 'throw', collection: collectionName },
  );
  schema.index({ keys: 1, _id: 1 });
  schema.index({ words: 1, _id: 1 });
  return connection.model<CustomerDocument>('Customer', schema);
}

/** Opens the customers on a connection. */
export function customerStore(connection: Connection): CustomerStore {
  const customers = customerModel(connection).collection as unknown as mongo.Collection<CustomerDocument>;
  const contentOnly = { projection: { content: 1 } } as const;
  return {
    isEmpty: () => storeCall(async () => (await customers.findOne({}, { projection: { _id: 1 } })) === null),
    find: (id) => storeCall(async () => (await customers.findOne({ _id: id }, contentOnly))?.content),
    list: (conditions, { limit, offset }) =>
      storeCall(async () => {
        const options = { ...contentOnly, sort: { _id: 1 }, skip: offset, limit } as const;
        const found = await customers.find(filterOf(conditions), options).toArray();
        return found.map(({ content }) => content);
      }),
    count: (conditions) => storeCall(() => customers.countDocuments(filterOf(conditions))),
    replace: (documents) => storeCall(() => replace(customers, documents)),
  };
}

function filterOf({ anyKey, keys = [], wordBeginnings = [] }: CustomerConditions): mongo.Filter<CustomerDocument> {
  const conditions: mongo.Filter<CustomerDocument>[] = [
    ...(anyKey ? [{ keys: { $in: [...anyKey] } }] : []),
    ...keys.map((key) => ({ keys: key })),
    // Words have letters and digits only, so none of their characters has a meaning in a pattern.
    ...wordBeginnings.map((word) => ({ words: { $regex: `^${word}` } })),
  ];
  return conditions.length === 0 ? {} : { $and: conditions };
}

async function replace(customers: mongo.Collection<CustomerDocument>, documents: readonly CustomerDocument[]) {
  const ids = documents.map(({ _id }) => _id);
  const stored = await customers.find({ _id: { $in: ids } }, { projection: { content: 1 } }).toArray();
  const contents = new Map(stored.map(({ _id, content }) => [_id, content]));
  const changed = documents.filter(({ _id, content }) => contents.get(_id) !== content);
  if (changed.length > 0) {
    const writes = changed.map(({ _id, ...fields }) => ({
      updateOne: { filter: { _id }, update: { $set: fields }, upsert: true },
    }));
    await retryUpsert(() => customers.bulkWrite(writes, { ordered: false }));
  }
  const created = documents.filter(({ _id }) => !contents.has(_id)).length;
  return { created, updated: changed.length - created, unchanged: documents.length - changed.length };
}
