import { randomUUID } from 'node:crypto';
import { type ExportFormat, ExportStatus } from '@ticketing/contracts/ticketing/reporting/v1/export_service_pb.ts';
import { type Leased, openLeases } from '@ticketing/store/lease.ts';
import { storeCall } from '@ticketing/store/store-error.ts';
import { type Connection, mongo } from 'mongoose';

/** An export that is made later, by whoever holds its lease. */
export interface ExportJob {
  id: string;
  /** Who asked for it: kind and profile. */
  requestedBy: string;
  /** The request, as its message says it. */
  request: Uint8Array;
  format: ExportFormat;
  status: ExportStatus;
  rows: number;
  total: number | null;
  createdAt: Date;
  finishedAt: Date | null;
  /** The file, from when it is begun. */
  fileId: string | null;
  fileBytes: number;
  /** How many rows matched, of which `total` were asked for. */
  matches: number | null;
  /** Whether the file tells of persons. */
  isPersonal: boolean;
  /** How often it was begun. */
  attempts: number;
  /** Who makes it now. */
  owner: string | null;
}

/** The exports that are made later, and their files. Errors of every operation: store_unavailable. */
export interface ExportStore {
  /** Records an export, unless as many of the same person are not finished yet. */
  add(job: Pick<ExportJob, 'requestedBy' | 'request' | 'format'>, most: number): Promise<ExportJob | undefined>;
  find(id: string): Promise<ExportJob | undefined>;
  /** Leases the oldest export that nobody makes. What is left of an earlier attempt is removed. */
  take(): Promise<ExportJob | undefined>;
  /** Notes how far it is, and prolongs the lease; answers false if it has to be left. */
  advance(
    job: ExportJob,
    progress: Partial<Pick<ExportJob, 'rows' | 'total' | 'matches' | 'isPersonal'>>,
  ): Promise<boolean>;
  /** Notes which tickets are in the file, before they are. */
  addTickets(job: ExportJob, ticketIds: readonly number[]): Promise<void>;
  /** Where the file is written; it is there when `finish` says so. */
  openFile(job: ExportJob): NodeJS.WritableStream;
  finish(job: ExportJob, rows: number, fileBytes: number): Promise<boolean>;
  fail(job: ExportJob): Promise<void>;
  /** Removes what an attempt has written that did not come to its end. */
  discard(job: ExportJob): Promise<void>;
  /** Gives an export back, to be made by another from the start. */
  release(job: ExportJob): Promise<void>;
  readFile(job: ExportJob): NodeJS.ReadableStream;
  /** Removes the files that hold a ticket; one that is being made is begun anew. */
  withdrawWith(ticketId: number): Promise<void>;
  /** Removes exports and files that were asked for before a time, and files of no export. */
  removeOlder(than: Date): Promise<void>;
}

interface ExportDocument extends Leased, Omit<ExportJob, 'id' | 'request' | 'owner'> {
  request: mongo.Binary;
}

/** The tickets in the file of an export, some thousand in each document. */
interface ExportTicketsDocument {
  _id: string;
  exportId: string;
  fileId: string;
  ids: number[];
}

const durationMs = 30_000;
const chunkBytes = 256 * 1024;
const unfinished = [ExportStatus.WAITING, ExportStatus.RUNNING];

/** Opens the exports on a connection. */
export function exportStore(connection: Connection): ExportStore {
  const jobs = connection.collection('exports') as unknown as mongo.Collection<ExportDocument>;
  const tickets = connection.collection('exportTickets') as unknown as mongo.Collection<ExportTicketsDocument>;
  const files = () => {
    const { db } = connection;
    if (!db) throw new mongo.MongoNotConnectedError('the database has not been reached');
    return new mongo.GridFSBucket(db, { bucketName: 'exportFiles', chunkSizeBytes: chunkBytes });
  };
  const idOf = (fileId: string) => fileId as unknown as mongo.ObjectId;
  const leases = openLeases(jobs, { connection, durationMs });
  const held = ({ id, owner }: ExportJob) => ({
    ...leases.isHeld({ id, owner: owner ?? '' }),
    status: ExportStatus.RUNNING,
  });

  async function removeFile(fileId: string | null): Promise<void> {
    if (fileId === null) return;
    // Of a file that was not finished there are chunks only; they are removed before the error.
    await files().delete(idOf(fileId)).catch(passOverMissing);
    await tickets.deleteMany({ fileId });
  }

  async function update(filter: object, set: object): Promise<boolean> {
    return storeCall(async () => (await jobs.updateOne(filter, { $set: set })).matchedCount === 1);
  }

  return {
    add: ({ requestedBy, request, format }, most) =>
      storeCall(async () => {
        const running = await jobs.countDocuments({ requestedBy, status: { $in: unfinished } });
        if (running >= most) return undefined;
        const document: ExportDocument = {
          ...{ _id: randomUUID(), requestedBy, request: new mongo.Binary(request), format },
          ...{ status: ExportStatus.WAITING, rows: 0, total: null, createdAt: new Date(), finishedAt: null },
          ...{
            fileId: null,
            fileBytes: 0,
            matches: null,
            isPersonal: true,
            attempts: 0,
            lease: null,
          },
        };
        await jobs.insertOne(document);
        return jobOf(document);
      }),
    find: (id) =>
      storeCall(async () => {
        const found = await jobs.findOne({ _id: id });
        return found ? jobOf(found) : undefined;
      }),
    take: () =>
      storeCall(async () => {
        const found = await leases.claim(
          { status: { $in: unfinished } },
          { set: { status: ExportStatus.RUNNING, rows: 0 }, increment: { attempts: 1 }, sort: { createdAt: 1 } },
        );
        if (!found) return undefined;
        await removeFile(found.fileId);
        const fileId = randomUUID();
        const isMine = await update(held(jobOf(found)), { fileId });
        return isMine ? jobOf({ ...found, fileId }) : undefined;
      }),
    advance: (job, progress) => storeCall(() => leases.renew({ id: job.id, owner: job.owner ?? '' }, progress)),
    addTickets: (job, ids) =>
      storeCall(async () => {
        await tickets.insertOne({ _id: randomUUID(), exportId: job.id, fileId: job.fileId ?? '', ids: [...ids] });
      }),
    openFile: (job) => files().openUploadStreamWithId(idOf(job.fileId ?? ''), job.id),
    finish: (job, rows, fileBytes) =>
      update(held(job), { status: ExportStatus.FINISHED, rows, fileBytes, finishedAt: new Date(), lease: null }),
    async fail(job) {
      await update(held(job), { status: ExportStatus.FAILED, finishedAt: new Date(), fileId: null, lease: null });
    },
    discard: (job) => storeCall(() => removeFile(job.fileId)),
    async release(job) {
      await update(held(job), { status: ExportStatus.WAITING, lease: null });
    },
    readFile: (job) => files().openDownloadStream(idOf(job.fileId ?? '')),
    withdrawWith: (ticketId) =>
      storeCall(async () => {
        const holding = await tickets.find({ ids: ticketId }, { projection: { exportId: 1, fileId: 1 } }).toArray();
        for (const { exportId, fileId } of holding) {
          const begun = { _id: exportId, fileId, status: { $in: unfinished } };
          await jobs.updateOne(begun, { $set: { status: ExportStatus.WAITING, lease: null, fileId: null } });
          const finished = { _id: exportId, fileId, status: ExportStatus.FINISHED };
          await jobs.updateOne(finished, { $set: { status: ExportStatus.WITHDRAWN, fileId: null } });
          // Who is writing it yet discards the rest.
          await removeFile(fileId);
        }
      }),
    removeOlder: (than) =>
      storeCall(async () => {
        const old = await jobs.find({ createdAt: { $lt: than } }, { projection: { fileId: 1 } }).toArray();
        for (const { _id, fileId } of old) {
          await jobs.deleteOne({ _id });
          await removeFile(fileId);
        }
        // What a process has written that died, or was too late to learn that the export is another's.
        const chunks = connection.collection('exportFiles.chunks') as unknown as mongo.Collection<{ files_id: string }>;
        const written = [...(await chunks.distinct('files_id')), ...(await tickets.distinct('fileId'))];
        const known = new Set(await jobs.distinct('fileId'));
        for (const fileId of new Set(written)) if (!known.has(fileId)) await removeFile(fileId);
      }),
  };
}

/** Builds the indexes of the exports. */
export async function buildExportIndexes(connection: Connection): Promise<void> {
  await connection.collection('exports').createIndex({ status: 1, createdAt: 1 });
  await connection.collection('exports').createIndex({ requestedBy: 1, status: 1 });
  await connection.collection('exports').createIndex({ createdAt: 1 });
  await connection.collection('exportTickets').createIndex({ fileId: 1 });
  await connection.collection('exportTickets').createIndex({ ids: 1 });
  await connection.collection('exportFiles.chunks').createIndex({ files_id: 1, n: 1 }, { unique: true });
}

function passOverMissing(error: unknown): void {
  if (!(error instanceof Error) || !error.message.startsWith('File not found')) throw error;
}

function jobOf({ _id, request, lease, ...rest }: ExportDocument): ExportJob {
  return { ...rest, id: _id, request: new Uint8Array(request.buffer), owner: lease?.owner ?? null };
}
