import { openCollection } from '@ticketing/store/connection/open-collection.ts';
import { type Connection, mongo } from 'mongoose';

/** The files of exports, stored in GridFS, and the ids of the tickets in them. */
export interface ExportFiles {
  openWrite(fileId: string, name: string): NodeJS.WritableStream;
  openRead(fileId: string): NodeJS.ReadableStream;
  /** Records that a file of an export contains tickets. */
  addTickets(file: ExportFile, ticketIds: readonly number[]): Promise<void>;
  /** Returns the files that contain a ticket. */
  withTicket(ticketId: number): Promise<ExportFile[]>;
  /** Removes a file, finished or not, and the records of its tickets. */
  remove(fileId: string): Promise<void>;
  /** Returns the ids of all files, finished or not. */
  ids(): Promise<Set<string>>;
}

/** A file, and the export that it belongs to. */
export interface ExportFile {
  exportId: string;
  fileId: string;
}

/** The tickets of one page of rows in a file. */
interface ExportTicketsDocument extends ExportFile {
  _id: string;
  ids: number[];
}

const chunkBytes = 256 * 1024;

/** Opens the files on a connection. `newId` returns an id that no document has. */
export function openExportFiles(connection: Connection, newId: () => string): ExportFiles {
  const tickets = openCollection<ExportTicketsDocument>(connection, 'exportTickets');
  const chunks = openCollection<{ files_id: string }>(connection, 'exportFiles.chunks');
  const bucket = () => {
    const { db } = connection;
    if (!db) throw new mongo.MongoNotConnectedError('the database has not been reached');
    return new mongo.GridFSBucket(db, { bucketName: 'exportFiles', chunkSizeBytes: chunkBytes });
  };
  return {
    openWrite: (fileId, name) => bucket().openUploadStreamWithId(gridId(fileId), name),
    openRead: (fileId) => bucket().openDownloadStream(gridId(fileId)),
    async addTickets(file, ticketIds) {
      await tickets.insertOne({ _id: newId(), ...file, ids: [...ticketIds] });
    },
    withTicket: (ticketId) => tickets.find({ ids: ticketId }, { projection: { exportId: 1, fileId: 1 } }).toArray(),
    async remove(fileId) {
      // An unfinished file has only chunks. GridFS removes them before it reports that the file is missing.
      await bucket().delete(gridId(fileId)).catch(ignoreMissing);
      await tickets.deleteMany({ fileId });
    },
    ids: async () => new Set([...(await chunks.distinct('files_id')), ...(await tickets.distinct('fileId'))]),
  };
}

function gridId(fileId: string): mongo.ObjectId {
  return fileId as unknown as mongo.ObjectId;
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof Error) || !error.message.startsWith('File not found')) throw error;
}
