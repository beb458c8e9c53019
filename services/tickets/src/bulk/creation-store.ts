import type { AttachmentState } from '@ticketing/files/attachment.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import { openCollection } from '@ticketing/store/connection/open-collection.ts';
import { serverTime } from '@ticketing/store/connection/server-time.ts';
import { isDuplicateKey, storeCall } from '@ticketing/store/document/store-error.ts';
import { type Claimed, type Leased, openLeases } from '@ticketing/store/leases/lease.ts';
import { type Connection, mongo } from 'mongoose';

/** A request that creates several tickets, as it is recorded before any of them is stored. */
export interface Creation {
  id: string;
  /** The caller of the request, as JSON. */
  caller: string;
  /** The trace of the request. */
  traceparent: string;
  /** The response so far, as a serialised message: the results of tickets that were refused. */
  response: Uint8Array;
  /** The tickets that are to be stored. */
  rows: readonly CreationRow[];
}

/** A ticket that is to be stored, with its messages. */
export interface CreationRow {
  /** Its place in the request. */
  index: number;
  /** The requests that it stands for, as serialised messages without files: that of the ticket, then those of its messages. */
  requests: readonly Uint8Array[];
  /** The id that the ticket gets; null if another has its external id. */
  ticketId: number | null;
  /** The ids that the messages get. */
  conversationIds: readonly number[];
  /** The stored files of the ticket, and then those of each message. */
  files: readonly (readonly AttachmentState[])[];
}

/** A recorded request that this process has claimed. */
export interface ClaimedCreation extends Omit<Creation, 'rows'>, Claimed {
  /** Identifies the documents with its rows. */
  rowsKey: string;
}

/** The requests of this service that create several tickets. Errors of every operation: store_unavailable. */
export interface CreationStore {
  /** Records a request and claims it. Returns undefined if the id is already recorded. */
  insert(creation: Creation): Promise<ClaimedCreation | undefined>;
  /** The response of a recorded request; null while it is not stored completely, undefined if it is not recorded. */
  findResponse(id: string): Promise<Uint8Array | null | undefined>;
  /** Claims an unfinished request whose lease has expired. Returns undefined if there is none. */
  takeOver(id: string): Promise<ClaimedCreation | undefined>;
  /** The ids of unfinished requests whose lease has expired. */
  abandoned(): Promise<string[]>;
  readRows(creation: ClaimedCreation): Promise<CreationRow[]>;
  renew(creation: ClaimedCreation): Promise<void>;
  /**
   * Records the id that a row takes in place of the one that was chosen for it, unless one is recorded already. Returns the
   * recorded one.
   */
  reserve(creation: ClaimedCreation, name: string, proposed: number): Promise<number>;
  /** Records the response, removes everything else of the request, and releases the lease. */
  finish(creation: ClaimedCreation, response: Uint8Array): Promise<void>;
  /** Removes requests that were finished more than a day ago, and rows that processes have left behind. */
  removeFinished(): Promise<void>;
}

interface CreationDocument extends Leased {
  rowsKey: string;
  caller: string;
  traceparent: string;
  response: mongo.Binary;
  reserved: Record<string, number>;
  finishedAt: Date | null;
}

/** Some rows of a request; all of them need not fit into one document. */
interface RowsDocument {
  _id: string;
  rowsKey: string;
  at: Date;
  rows: (Omit<CreationRow, 'requests'> & { requests: mongo.Binary[] })[];
}

const durationMs = 10_000;
const retentionMs = 24 * 60 * 60 * 1000;
const maxAbandoned = 100;
/** A document has at most 16 MiB, and a row little more than 12. */
const maxRowsBytes = 12 * 1024 * 1024;
/** Rows are inserted shortly before their request. */
const rowsAreAloneMs = 5 * 60 * 1000;

const openCreations = (connection: Connection) => openCollection<CreationDocument>(connection, 'creations');
const openRows = (connection: Connection) => openCollection<RowsDocument>(connection, 'creationRows');

export async function buildCreationIndexes(connection: Connection): Promise<void> {
  await openCreations(connection).createIndex({ finishedAt: 1, 'lease.expiresAt': 1 });
  await openRows(connection).createIndex({ rowsKey: 1 });
  await openRows(connection).createIndex({ at: 1 });
}

export function creationStore(connection: Connection, { randomUUID }: Pick<Runtime, 'randomUUID'>): CreationStore {
  const creations = openCreations(connection);
  const parts = openRows(connection);
  const leases = openLeases(creations, { connection, durationMs });
  const isUnfinished = { finishedAt: null };
  const removeRows = (rowsKey: string) => parts.deleteMany({ rowsKey });
  return {
    insert: ({ rows, ...given }) =>
      storeCall(async () => {
        const { id, response, ...rest } = given;
        const lease = leases.begin();
        const rowsKey = randomUUID();
        const at = new Date(serverTime(connection));
        // The rows come first: a recorded request has all of them.
        await parts.insertMany(
          inParts(rows).map((some, nth) => ({
            _id: `${rowsKey}/${nth}`,
            rowsKey,
            at,
            rows: some.map((row) => ({ ...row, requests: row.requests.map((bytes) => new mongo.Binary(bytes)) })),
          })),
        );
        const document = { ...rest, rowsKey, response: new mongo.Binary(response), reserved: {}, finishedAt: null };
        try {
          await creations.insertOne({ _id: id, ...document, lease });
          return { ...given, rowsKey, owner: lease.owner };
        } catch (error) {
          if (!isDuplicateKey(error)) throw error;
          await removeRows(rowsKey);
          return undefined;
        }
      }),
    findResponse: (id) =>
      storeCall(async () => {
        const found = await creations.findOne({ _id: id });
        if (!found) return undefined;
        return found.finishedAt ? found.response.value() : null;
      }),
    takeOver: (id) => storeCall(async () => fromDocument(await leases.claim({ _id: id, ...isUnfinished }))),
    abandoned: () =>
      storeCall(async () => {
        const found = await creations
          .find({ ...isUnfinished, ...leases.isFree() } as never, { projection: { _id: 1 }, limit: maxAbandoned })
          .toArray();
        return found.map(({ _id }) => _id);
      }),
    readRows: ({ rowsKey }) =>
      storeCall(async () => {
        const found = await parts.find({ rowsKey }).toArray();
        return found.flatMap(({ rows }) =>
          rows.map((row) => ({ ...row, requests: row.requests.map((bytes) => bytes.value()) })),
        );
      }),
    async renew(creation) {
      await storeCall(() => leases.renew(creation));
    },
    reserve: (creation, name, proposed) =>
      storeCall(async () => {
        const field = `reserved.${name}`;
        const isFree = { ...leases.isHeld(creation), [field]: { $exists: false } };
        await creations.updateOne(isFree as never, { $set: { [field]: proposed } });
        const recorded = (await creations.findOne({ _id: creation.id }))?.reserved[name];
        if (recorded === undefined) throw new Error('another process has claimed the request');
        return recorded;
      }),
    async finish(creation, response) {
      const finishedAt = new Date(serverTime(connection));
      const finished = { response: new mongo.Binary(response), caller: '', reserved: {}, finishedAt };
      await storeCall(() => leases.release(creation, finished));
      await storeCall(() => removeRows(creation.rowsKey));
    },
    async removeFinished() {
      const now = serverTime(connection);
      await storeCall(() => creations.deleteMany({ finishedAt: { $lt: new Date(now - retentionMs) } }));
      await storeCall(async () => {
        const isOld = { at: { $lt: new Date(now - rowsAreAloneMs) } };
        const found = await parts.find(isOld, { projection: { rowsKey: 1 } }).toArray();
        for (const rowsKey of new Set(found.map((one) => one.rowsKey))) {
          if (!(await creations.findOne({ rowsKey, ...isUnfinished }))) await removeRows(rowsKey);
        }
      });
    },
  };
}

/** Divides rows so that those of a part have at most some bytes together, one row apart. */
function inParts(rows: readonly CreationRow[]): CreationRow[][] {
  const divided: CreationRow[][] = [[]];
  let bytes = 0;
  for (const row of rows) {
    const size = row.requests.reduce((sum, { length }) => sum + length, 0);
    bytes += size;
    if (bytes > maxRowsBytes) {
      divided.push([]);
      bytes = size;
    }
    divided.at(-1)?.push(row);
  }
  return divided.filter((part) => part.length > 0);
}

function fromDocument(document: (CreationDocument & { lease?: { owner: string } | null }) | undefined) {
  if (!document) return undefined;
  const { _id, rowsKey, caller, traceparent, response, lease } = document;
  return { id: _id, rowsKey, caller, traceparent, response: response.value(), owner: lease?.owner ?? '' };
}
