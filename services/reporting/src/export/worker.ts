import { pipeline } from 'node:stream/promises';
import { fromBinary } from '@bufbuild/protobuf';
import { ExportReportingTicketsRequestSchema } from '@ticketing/contracts/ticketing/reporting/v1/export_service_pb.ts';
import { startWakefulLoop, type WakefulLoop } from '@ticketing/runtime/wakeful-loop.ts';
import { isTransient } from '@ticketing/store/document/transient-error.ts';
import type { Context } from '../context.ts';
import type { RowDocument } from '../row/store/schema.ts';
import { cellsOf, planExport } from './plan.ts';
import type { ExportJob } from './schema.ts';

const pollMs = { busy: 1_000, idle: 5_000 };
const progressEveryMs = 1_000;
/** An export that kills its process each time fails after this many attempts. */
const maxAttempts = 5;

/** The lease was lost: another process makes the export from the start. */
class ExportLost extends Error {
  override readonly name = 'ExportLost';
}

/**
 * Starts the loop that makes the requested exports, one at a time in each process. An export that this process does not
 * finish is made by another.
 */
export function startExportWorker(context: Context, opened: Promise<void>): WakefulLoop {
  const worker = startWakefulLoop({
    pollMs,
    after: opened,
    async run(signal) {
      const job = await context.exports.claim();
      if (job && job.attempts > maxAttempts) await failExport(context, job, new Error('too many attempts'));
      else if (job) await makeExport(context, job, signal);
      return job === undefined ? 'nothing' : 'more';
    },
    onError(error, failures) {
      if (failures === 0) context.log.warn({ err: error }, 'no export can be claimed; trying again');
      return pollMs.busy;
    },
  });
  context.exportWorker = worker;
  return worker;
}

async function makeExport(context: Context, job: ExportJob, stopping: AbortSignal): Promise<void> {
  const lost = new AbortController();
  const signal = AbortSignal.any([stopping, lost.signal]);
  const progress = { rows: 0 };
  let isFinished = false;
  const recordProgress = async () => {
    const isOwner = await context.exports.recordProgress(job, { rows: progress.rows });
    if (!isOwner) lost.abort(new ExportLost('the lease of the export was lost'));
  };
  const recording = setInterval(() => void recordProgress().catch(() => undefined), progressEveryMs);
  try {
    const fileBytes = await writeFile(context, job, progress, signal);
    isFinished = await context.exports.finish(job, progress.rows, fileBytes);
  } catch (error) {
    if (signal.aborted || (isTransient(error) && job.attempts < maxAttempts)) {
      await context.exports.release(job).catch(() => undefined);
    } else await failExport(context, job, error);
  } finally {
    clearInterval(recording);
    // `finish` also refuses if a ticket in the file was deleted meanwhile, or if another process has claimed the export.
    if (!isFinished) await context.exports.discardFile(job).catch(() => undefined);
  }
}

/** Writes the file of an export. Returns its size in bytes. */
async function writeFile(
  context: Context,
  job: ExportJob,
  progress: { rows: number },
  signal: AbortSignal,
): Promise<number> {
  const request = fromBinary(ExportReportingTicketsRequestSchema, job.request);
  const settings = await context.settings();
  const plan = planExport({ ...request, format: job.format }, settings, context.now());
  const count = await context.rows.count(plan.rows);
  await context.exports.recordProgress(job, {
    total: Math.min(plan.rows.limit ?? count, Math.max(0, count - plan.rows.offset)),
    matches: count,
    isPersonal: settings.reportingPrivacyLevel === 'none',
  });
  const pages = recordTickets(context, job, context.rows.pages(plan.rows), progress);
  let bytes = 0;
  async function* counted() {
    for await (const piece of plan.fileFormat.write(plan.columns, cellsOf(plan, pages))) {
      bytes += piece.length;
      yield piece;
    }
  }
  await pipeline(counted, context.exports.openFile(job), { signal });
  return bytes;
}

async function failExport(context: Context, job: ExportJob, error: unknown): Promise<void> {
  context.log.error({ err: error, exportId: job.id }, 'an export failed');
  await context.exports.fail(job).catch(() => undefined);
}

/**
 * Records the tickets of each page before its rows are written, so that a later deletion finds the file. Leaves out rows
 * that were erased before that.
 */
async function* recordTickets(
  context: Context,
  job: ExportJob,
  pages: AsyncIterable<RowDocument[]>,
  progress: { rows: number },
): AsyncGenerator<RowDocument[]> {
  for await (const page of pages) {
    const ids = page.map(({ _id }) => _id);
    await context.exports.addTickets(job, ids);
    const erased = await context.rows.erasedAmong(ids);
    const remaining = page.filter(({ _id }) => !erased.has(_id));
    yield remaining;
    progress.rows += remaining.length;
  }
}
