import type { ExportFormat, ExportStatus } from '@ticketing/contracts/ticketing/reporting/v1/export_service_pb.ts';
import { openCollection } from '@ticketing/store/connection/open-collection.ts';
import type { Leased } from '@ticketing/store/leases/lease.ts';
import { type Connection, mongo } from 'mongoose';

/** An export that is made in the background, by the owner of its lease. */
export interface ExportJob {
  id: string;
  /** The kind and the profile of the caller who requested it. */
  requestedBy: string;
  /** The request, as a serialised message. */
  request: Uint8Array;
  format: ExportFormat;
  status: ExportStatus;
  /** How many rows are written. */
  rows: number;
  /** How many rows the file will have; null before the rows are counted. */
  total: number | null;
  createdAt: Date;
  finishedAt: Date | null;
  /** The file that the current attempt writes, or the finished file. */
  fileId: string | null;
  fileBytes: number;
  /** The number of rows that match, before limit and offset. */
  matches: number | null;
  /** Whether the file contains personal data. */
  isPersonal: boolean;
  /** How often a process has claimed it. */
  attempts: number;
  /** The owner of the lease. */
  owner: string | null;
}

/** A stored export. */
export interface ExportDocument extends Leased, Omit<ExportJob, 'id' | 'request' | 'owner'> {
  request: mongo.Binary;
  /** The slot of an unfinished export among its requester's unfinished exports, from 0. No two have the same. */
  slot: number | null;
}

/** Returns the exports on a connection. */
export function exportCollection(connection: Connection): mongo.Collection<ExportDocument> {
  return openCollection<ExportDocument>(connection, 'exports');
}

/** Returns the document of a new export. */
export function newExportDocument(
  { id, status, createdAt, slot }: Pick<ExportJob, 'id' | 'status' | 'createdAt'> & { slot: number },
  { requestedBy, request, format }: Pick<ExportJob, 'requestedBy' | 'request' | 'format'>,
): ExportDocument {
  return {
    _id: id,
    requestedBy,
    request: new mongo.Binary(request),
    format,
    status,
    rows: 0,
    total: null,
    createdAt,
    finishedAt: null,
    fileId: null,
    fileBytes: 0,
    matches: null,
    isPersonal: true,
    attempts: 0,
    lease: null,
    slot,
  };
}

/** Returns the export that a document describes. */
export function fromDocument({ _id, request, lease, slot, ...rest }: ExportDocument): ExportJob {
  return { ...rest, id: _id, request: new Uint8Array(request.buffer), owner: lease?.owner ?? null };
}

/** Builds the indexes of the exports and their files. */
export async function buildExportIndexes(connection: Connection): Promise<void> {
  await connection.collection('exports').createIndex({ status: 1, createdAt: 1 });
  await connection
    .collection('exports')
    .createIndex({ requestedBy: 1, slot: 1 }, { unique: true, partialFilterExpression: { slot: { $gte: 0 } } });
  await connection.collection('exports').createIndex({ createdAt: 1 });
  await connection.collection('exportTickets').createIndex({ fileId: 1 });
  await connection.collection('exportTickets').createIndex({ ids: 1 });
  await connection.collection('exportFiles.chunks').createIndex({ files_id: 1, n: 1 }, { unique: true });
}
