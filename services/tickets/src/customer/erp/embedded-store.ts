import { openCollection } from '@ticketing/store/connection/open-collection.ts';
import { retryUpsert, storeCall } from '@ticketing/store/document/store-error.ts';
import { wordsQueries } from '@ticketing/store/document/words-query.ts';
import type { SearchTerm } from '@ticketing/text/search-query.ts';
import { type Connection, type Model, type mongo, Schema } from 'mongoose';

/** A customer of the embedded ERP system. */
export interface CustomerDocument {
  /** The id. */
  _id: string;
  /** The customer in JSON. */
  content: string;
  /** The keys by which it is found, in folded form: `email=ada@example.org`. */
  keys: string[];
  /** The words of the full text search. */
  words: string[];
}

/** Conditions on customers: any of `anyKey`, one of each list of `keys`, and all terms of a search. */
export interface CustomerConditions {
  anyKey?: readonly string[];
  keys?: readonly (readonly string[])[];
  terms?: readonly SearchTerm[];
}

/** Makes the documents of customers from what is stored. */
type MakeCustomers = (stored: ReadonlyMap<string, string>) => CustomerDocument[];

/** How many customers are new, have changed, and were the same already. */
export interface WrittenCustomers {
  created: number;
  updated: number;
  unchanged: number;
}

/** The customers of the embedded ERP system. Errors of every operation: store_unavailable. */
export interface CustomerStore {
  isEmpty(): Promise<boolean>;
  find(id: string): Promise<string | undefined>;
  /** The customers that match, by id, each in JSON. */
  list(conditions: CustomerConditions, page: { limit: number; offset: number }): Promise<string[]>;
  count(conditions: CustomerConditions): Promise<number>;
  /**
   * Writes the customers with some ids. `make` makes their documents from those that are stored, each in JSON by its id;
   * it is called again if others have written them meanwhile. Errors: also what `make` throws.
   */
  write(ids: readonly string[], make: MakeCustomers): Promise<WrittenCustomers>;
}

const collectionName = 'customers';

export function customerModel(connection: Connection): Model<CustomerDocument> {
  const schema = new Schema<CustomerDocument>(
    { _id: String, content: String, keys: [String], words: [String] },
    { versionKey: false, strict: 'throw', collection: collectionName },
  );
  schema.index({ keys: 1, _id: 1 });
  schema.index({ words: 1, _id: 1 });
  return connection.model<CustomerDocument>('Customer', schema);
}

export function customerStore(connection: Connection): CustomerStore {
  const customers = openCollection<CustomerDocument>(connection, collectionName);
  const contentOnly = { projection: { content: 1 } } as const;
  return {
    isEmpty: () => storeCall(async () => (await customers.findOne({}, { projection: { _id: 1 } })) === null),
    find: (id) => storeCall(async () => (await customers.findOne({ _id: id }, contentOnly))?.content),
    list: (conditions, { limit, offset }) =>
      storeCall(async () => {
        const options = { ...contentOnly, sort: { _id: 1 }, skip: offset, limit } as const;
        const found = await customers.find(toFilter(conditions), options).toArray();
        return found.map(({ content }) => content);
      }),
    count: (conditions) => storeCall(() => customers.countDocuments(toFilter(conditions))),
    write: (ids, make) => storeCall(() => write(customers, ids, make)),
  };
}

function toFilter({ anyKey, keys = [], terms }: CustomerConditions): mongo.Filter<CustomerDocument> {
  const conditions: mongo.Filter<CustomerDocument>[] = [
    ...(anyKey ? [{ keys: { $in: [...anyKey] } }] : []),
    ...keys.map((spellings) => ({ keys: { $in: [...spellings] } })),
    ...(terms ? wordsQueries(['words'], terms) : []),
  ];
  return conditions.length === 0 ? {} : { $and: conditions };
}

async function write(
  customers: mongo.Collection<CustomerDocument>,
  ids: readonly string[],
  make: MakeCustomers,
): Promise<WrittenCustomers> {
  let written: WrittenCustomers | undefined;
  for (;;) {
    const found = await customers.find({ _id: { $in: [...ids] } }, { projection: { content: 1 } }).toArray();
    const stored = new Map(found.map(({ _id, content }) => [_id, content]));
    const documents = make(stored);
    const changed = documents.filter(({ _id, content }) => stored.get(_id) !== content);
    const created = documents.filter(({ _id }) => !stored.has(_id)).length;
    written ??= { created, updated: changed.length - created, unchanged: documents.length - changed.length };
    if (changed.length === 0) return written;
    // Each is written only if nobody else has written it since. The next round shows whether all were.
    const writes = changed.map(({ _id, ...fields }) => {
      const before = stored.get(_id);
      return before === undefined
        ? { updateOne: { filter: { _id }, update: { $setOnInsert: fields }, upsert: true } }
        : { updateOne: { filter: { _id, content: before }, update: { $set: fields } } };
    });
    await retryUpsert(() => customers.bulkWrite(writes, { ordered: false }));
  }
}
