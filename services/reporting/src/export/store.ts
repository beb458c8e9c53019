import { ExportStatus } from '@ticketing/contracts/ticketing/reporting/v1/export_service_pb.ts';
import { keyedQueue } from '@ticketing/runtime/keyed-queue.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import { retryOnConflict } from '@ticketing/store/document/retry-on-conflict.ts';
import { isDuplicateKey, storeCall } from '@ticketing/store/document/store-error.ts';
import { openLeases } from '@ticketing/store/leases/lease.ts';
import type { Connection } from 'mongoose';
import { openExportFiles } from './file-store.ts';
import { type ExportDocument, type ExportJob, exportCollection, fromDocument, newExportDocument } from './schema.ts';

/** The exports that are made in the background, and their files. Errors of every operation: store_unavailable. */
export interface ExportStore {
  /**
   * Records an export. Returns undefined if its requester has `maxUnfinished` unfinished exports already.
   *
   * Errors: concurrent_change, if others request exports at the same time too often.
   */
  add(job: RequestedExport, maxUnfinished: number): Promise<ExportJob | undefined>;
  find(id: string): Promise<ExportJob | undefined>;
  /** Claims the oldest unfinished export whose lease is free, and removes the file of an earlier attempt. */
  claim(): Promise<ExportJob | undefined>;
  /** Records the progress and renews the lease. Returns false if this process has lost the lease. */
  recordProgress(job: ExportJob, progress: ExportProgress): Promise<boolean>;
  /** Records that the file contains tickets. To be called before their rows are written. */
  addTickets(job: ExportJob, ticketIds: readonly number[]): Promise<void>;
  /** Opens the file for writing. It can be read after `finish`. */
  openFile(job: ExportJob): NodeJS.WritableStream;
  /** Marks an export as finished. Returns false if this process has lost the lease. */
  finish(job: ExportJob, rows: number, fileBytes: number): Promise<boolean>;
  /** Marks an export as failed. */
  fail(job: ExportJob): Promise<void>;
  /** Removes the file of an attempt that has not finished. */
  discardFile(job: ExportJob): Promise<void>;
  /** Releases an export; another process makes it from the start. */
  release(job: ExportJob): Promise<void>;
  readFile(job: ExportJob): NodeJS.ReadableStream;
  /** Removes the files that contain a ticket. Finished exports are withdrawn, others are made again. */
  withdrawFilesWith(ticketId: number): Promise<void>;
  /** Removes the exports that were requested before a time, with their files, and all files that belong to no export. */
  removeOlderThan(time: Date): Promise<void>;
}

/** The fields of an export that are known when it is requested. */
export type RequestedExport = Pick<ExportJob, 'requestedBy' | 'request' | 'format'>;

/** The fields of an export that are recorded while it is made. */
export type ExportProgress = Partial<Pick<ExportJob, 'rows' | 'total' | 'matches' | 'isPersonal'>>;

const durationMs = 30_000;
const tooOften = 'Others request exports at the same time too often.';
const unfinished = [ExportStatus.WAITING, ExportStatus.RUNNING];

/** Opens the exports on a connection. */
export function exportStore(connection: Connection, { now, random, randomUUID }: Runtime): ExportStore {
  const jobs = exportCollection(connection);
  const additions = keyedQueue<string>();
  const files = openExportFiles(connection, randomUUID);
  const leases = openLeases(jobs, { connection, durationMs });
  const toClaim = ({ id, owner }: ExportJob) => ({ id, owner: owner ?? '' });
  const isRunning = (job: ExportJob) => ({ ...leases.isHeld(toClaim(job)), status: ExportStatus.RUNNING });

  function update(filter: object, set: object): Promise<boolean> {
    return storeCall(async () => (await jobs.updateOne(filter, { $set: set })).matchedCount === 1);
  }

  async function removeFile(fileId: string | null): Promise<void> {
    if (fileId !== null) await files.remove(fileId);
  }

  // A slot is taken and freed in the same write as the export it belongs to, so that no crash leaves one taken.
  async function add(job: RequestedExport, maxUnfinished: number): Promise<ExportJob | undefined> {
    const id = randomUUID();
    for (let slot = 0; slot < maxUnfinished; slot += 1) {
      const document = newExportDocument({ id, status: ExportStatus.WAITING, createdAt: new Date(now()), slot }, job);
      if (await insertIfFree(document)) return fromDocument(document);
    }
    return undefined;
  }

  async function insertIfFree(document: ExportDocument): Promise<boolean> {
    try {
      await retryOnConflict({ random }, tooOften, () => jobs.insertOne(document));
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }

  async function claim(): Promise<ExportJob | undefined> {
    const claimed = await leases.claim(
      { status: { $in: unfinished } },
      { set: { status: ExportStatus.RUNNING, rows: 0 }, increment: { attempts: 1 }, sort: { createdAt: 1 } },
    );
    if (!claimed) return undefined;
    await removeFile(claimed.fileId);
    const fileId = randomUUID();
    const isOwner = await update(isRunning(fromDocument(claimed)), { fileId });
    return isOwner ? fromDocument({ ...claimed, fileId }) : undefined;
  }

  async function withdrawFilesWith(ticketId: number): Promise<void> {
    for (const { exportId, fileId } of await files.withTicket(ticketId)) {
      const isUnfinished = { _id: exportId, fileId, status: { $in: unfinished } };
      await jobs.updateOne(isUnfinished, { $set: { status: ExportStatus.WAITING, lease: null, fileId: null } });
      const isFinished = { _id: exportId, fileId, status: ExportStatus.FINISHED };
      await jobs.updateOne(isFinished, { $set: { status: ExportStatus.WITHDRAWN, fileId: null } });
      // A process that is still writing the file removes the rest, because its `finish` returns false.
      await removeFile(fileId);
    }
  }

  async function removeOlderThan(time: Date): Promise<void> {
    const old = await jobs.find({ createdAt: { $lt: time } }, { projection: { fileId: 1 } }).toArray();
    for (const { _id, fileId } of old) {
      await jobs.deleteOne({ _id });
      await removeFile(fileId);
    }
    // Files without an export were left by processes that died, or that lost their lease while they were writing.
    const written = await files.ids();
    const known = new Set(await jobs.distinct('fileId'));
    for (const fileId of written) if (!known.has(fileId)) await removeFile(fileId);
  }

  return {
    // One after the other in this process, because many inserts for the same slots delay each other.
    add: (job, maxUnfinished) => additions.run(job.requestedBy, () => storeCall(() => add(job, maxUnfinished))),
    find: (id) =>
      storeCall(async () => {
        const found = await jobs.findOne({ _id: id });
        return found ? fromDocument(found) : undefined;
      }),
    claim: () => storeCall(claim),
    recordProgress: (job, progress) => storeCall(() => leases.renew(toClaim(job), { ...progress })),
    addTickets: ({ id, fileId }, ticketIds) =>
      storeCall(() => files.addTickets({ exportId: id, fileId: fileId ?? '' }, ticketIds)),
    openFile: (job) => files.openWrite(job.fileId ?? '', job.id),
    finish: (job, rows, fileBytes) =>
      update(isRunning(job), {
        status: ExportStatus.FINISHED,
        rows,
        fileBytes,
        finishedAt: new Date(now()),
        lease: null,
        slot: null,
      }),
    async fail(job) {
      const failed = {
        status: ExportStatus.FAILED,
        finishedAt: new Date(now()),
        fileId: null,
        lease: null,
        slot: null,
      };
      await update(isRunning(job), failed);
    },
    discardFile: (job) => storeCall(() => removeFile(job.fileId)),
    async release(job) {
      await update(isRunning(job), { status: ExportStatus.WAITING, lease: null });
    },
    readFile: (job) => files.openRead(job.fileId ?? ''),
    withdrawFilesWith: (ticketId) => storeCall(() => withdrawFilesWith(ticketId)),
    removeOlderThan: (time) => storeCall(() => removeOlderThan(time)),
  };
}
