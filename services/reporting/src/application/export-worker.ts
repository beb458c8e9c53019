import { pipeline } from 'node:stream/promises';
import { fromBinary } from '@bufbuild/protobuf';
import { ExportReportingTicketsRequestSchema } from '@ticketing/contracts/ticketing/reporting/v1/export_service_pb.ts';
import { startWakefulLoop, type WakefulLoop } from '@ticketing/runtime/wakeful-loop.ts';
import { isTransient } from '@ticketing/store/transient-error.ts';
import type { ExportJob } from '../store/export-store.ts';
import type { RowDocument } from '../store/row-model.ts';
import type { Context } from './context.ts';
import { cellsOf, planExport } from './export-plan.ts';

const pollMs = { busy: 1_000, idle: 5_000 };
const advanceEveryMs = 1_000;
/** An export that takes its process down with it is not begun for ever. */
const maxAttempts = 5;

/** The export is to be begun anew, or made by another. */
class ExportLeft extends Error {
  override readonly name = 'ExportLeft';
}

/** Starts what makes the exports that were asked for, in this process one at a time; what it leaves goes to another. */
export function startExportWorker(context: Context, opened: Promise<void>): WakefulLoop {
  const worker = startWakefulLoop({
    pollMs,
    after: opened,
    async run(signal) {
      const job = await context.exports.take();
      if (job && job.attempts > maxAttempts) await giveUp(context, job, new Error('it was begun too often'));
      else if (job) await make(context, job, signal);
      return job === undefined ? 'nothing' : 'more';
    },
    onError(error, failures) {
      if (failures === 0) context.log.warn({ err: error }, 'exports wait');
      return pollMs.busy;
    },
  });
  context.exportWorker = worker;
  return worker;
}

async function make(context: Context, job: ExportJob, stopping: AbortSignal): Promise<void> {
  const left = new AbortController();
  const signal = AbortSignal.any([stopping, left.signal]);
  const progress = { rows: 0 };
  let isFinished = false;
  const advance = async () => {
    const isMine = await context.exports.advance(job, { rows: progress.rows });
    if (!isMine) left.abort(new ExportLeft('it is not ours any more'));
  };
  const advancing = setInterval(() => void advance().catch(() => undefined), advanceEveryMs);
  try {
    const request = fromBinary(ExportReportingTicketsRequestSchema, job.request);
    const settings = await context.settings();
    const plan = planExport({ ...request, format: job.format }, settings, context.now());
    const count = await context.rows.count(plan.rows);
    await context.exports.advance(job, {
      total: Math.min(plan.rows.limit ?? count, Math.max(0, count - plan.rows.offset)),
      matches: count,
      isPersonal: settings.reportingPrivacyLevel === 'none',
    });
    const pages = recorded(context, job, context.rows.pages(plan.rows), progress);
    let bytes = 0;
    async function* counted() {
      for await (const piece of plan.writer.write(plan.columns, cellsOf(plan, pages))) {
        bytes += piece.length;
        yield piece;
      }
    }
    await pipeline(counted, context.exports.openFile(job), { signal });
    isFinished = await context.exports.finish(job, progress.rows, bytes);
  } catch (error) {
    if (signal.aborted || (isTransient(error) && job.attempts < maxAttempts)) {
      await context.exports.release(job).catch(() => undefined);
    } else await giveUp(context, job, error);
  } finally {
    clearInterval(advancing);
    // A ticket in it may have been deleted meanwhile, or another may have taken the export over.
    if (!isFinished) await context.exports.discard(job).catch(() => undefined);
  }
}

async function giveUp(context: Context, job: ExportJob, error: unknown): Promise<void> {
  context.log.error({ err: error, exportId: job.id }, 'an export could not be made');
  await context.exports.fail(job).catch(() => undefined);
}

/** Notes which tickets are in the file before they are, and leaves out those that were erased before that. */
async function* recorded(
  context: Context,
  job: ExportJob,
  pages: AsyncIterable<RowDocument[]>,
  progress: { rows: number },
): AsyncGenerator<RowDocument[]> {
  for await (const page of pages) {
    const ids = page.map(({ _id }) => _id);
    await context.exports.addTickets(job, ids);
    const erased = await context.rows.erasedAmong(ids);
    const kept = page.filter(({ _id }) => !erased.has(_id));
    yield kept;
    progress.rows += kept.length;
  }
}
