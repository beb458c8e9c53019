import { pipeline } from 'node:stream/promises';
import { fromBinary } from '@bufbuild/protobuf';
import { ExportReportingTicketsRequestSchema } from '@ticketing/contracts/ticketing/reporting/v1/export_service_pb.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import { type Runtime, secondsNow } from '@ticketing/runtime/runtime.ts';
import { type LaterLoop, wakefulLoop } from '@ticketing/runtime/wakeful-loop.ts';
import { isTransient } from '@ticketing/store/document/transient-error.ts';
import type { RowDocument } from '../row/store/schema.ts';
import type { RowStore } from '../row/store/store.ts';
import type { ReportingSettings } from '../settings.ts';
import { planExport, toCells } from './plan.ts';
import type { ExportJob } from './schema.ts';
import type { ExportStore } from './store.ts';

const pollMs = { busy: 1_000, idle: 5_000 };
const progressEveryMs = 1_000;
/** An export that kills its process each time fails after this many attempts. */
const maxAttempts = 5;

/** The dependencies of the export worker. */
export interface WorkerParts {
  exports: ExportStore;
  rows: Pick<RowStore, 'count' | 'pages' | 'erasedAmong'>;
  settings(): Promise<ReportingSettings>;
  runtime: Runtime;
  log: Logger;
}

/** The lease was lost: another process makes the export from the start. */
class ExportLost extends Error {
  override readonly name = 'ExportLost';
}

/**
 * Makes the loop that makes the requested exports, one at a time in each process. An export that this process does not
 * finish is made by another.
 */
export function exportWorker(parts: WorkerParts, opened: Promise<void>): LaterLoop {
  const { exports, log } = parts;
  return wakefulLoop({
    pollMs,
    after: opened,
    async run(signal) {
      const job = await exports.claim();
      if (job && job.attempts > maxAttempts) await failExport(parts, job, new Error('too many attempts'));
      else if (job) await makeExport(parts, job, signal);
      return job === undefined ? 'nothing' : 'more';
    },
    onError(error, failures) {
      if (failures === 0) log.warn({ err: error }, 'no export can be claimed; trying again');
      return pollMs.busy;
    },
  });
}

async function makeExport(parts: WorkerParts, job: ExportJob, stopping: AbortSignal): Promise<void> {
  const lost = new AbortController();
  const signal = AbortSignal.any([stopping, lost.signal]);
  const progress = { rows: 0 };
  let isFinished = false;
  const recordProgress = async () => {
    const isOwner = await parts.exports.recordProgress(job, { rows: progress.rows });
    if (!isOwner) lost.abort(new ExportLost('the lease of the export was lost'));
  };
  const recording = setInterval(() => void recordProgress().catch(() => undefined), progressEveryMs);
  try {
    const fileBytes = await writeFile(parts, job, progress, signal);
    isFinished = await parts.exports.finish(job, progress.rows, fileBytes);
  } catch (error) {
    if (signal.aborted || (isTransient(error) && job.attempts < maxAttempts)) {
      await parts.exports.release(job).catch(() => undefined);
    } else await failExport(parts, job, error);
  } finally {
    clearInterval(recording);
    // `finish` also refuses if a ticket in the file was deleted meanwhile, or if another process has claimed the export.
    if (!isFinished) await parts.exports.discardFile(job).catch(() => undefined);
  }
}

/** Writes the file of an export. Returns its size in bytes. */
async function writeFile(
  parts: WorkerParts,
  job: ExportJob,
  progress: { rows: number },
  signal: AbortSignal,
): Promise<number> {
  const request = fromBinary(ExportReportingTicketsRequestSchema, job.request);
  const settings = await parts.settings();
  const plan = planExport({ ...request, format: job.format }, settings, secondsNow(parts.runtime));
  const count = await parts.rows.count(plan.rows);
  await parts.exports.recordProgress(job, {
    total: Math.min(plan.rows.limit ?? count, Math.max(0, count - plan.rows.offset)),
    matches: count,
    isPersonal: settings.reportingPrivacyLevel === 'none',
  });
  const pages = recordTickets(parts, job, parts.rows.pages(plan.rows), progress);
  let bytes = 0;
  async function* counted() {
    for await (const piece of plan.fileFormat.write(plan.columns, toCells(plan, pages))) {
      bytes += piece.length;
      yield piece;
    }
  }
  await pipeline(counted, parts.exports.openFile(job), { signal });
  return bytes;
}

async function failExport(parts: WorkerParts, job: ExportJob, error: unknown): Promise<void> {
  parts.log.error({ err: error, exportId: job.id }, 'an export failed');
  await parts.exports.fail(job).catch(() => undefined);
}

/**
 * Records the tickets of each page before its rows are written, so that a later deletion finds the file. Leaves out rows
 * that were erased before that.
 */
async function* recordTickets(
  parts: WorkerParts,
  job: ExportJob,
  pages: AsyncIterable<RowDocument[]>,
  progress: { rows: number },
): AsyncGenerator<RowDocument[]> {
  for await (const page of pages) {
    const ids = page.map(({ _id }) => _id);
    await parts.exports.addTickets(job, ids);
    const erased = await parts.rows.erasedAmong(ids);
    const remaining = page.filter(({ _id }) => !erased.has(_id));
    yield remaining;
    progress.rows += remaining.length;
  }
}
