import type { OutboundGuard } from '@ticketing/outbound/outbound-guard.ts';
import { type ByteBudget, byteBudget } from '@ticketing/runtime/byte-budget.ts';
import { type KeyedSlots, keyedSlots } from '@ticketing/runtime/keyed-slots.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import type { Connection } from 'mongoose';
import { maxFileBytes } from './attachment.ts';
import { type FileQuota, type FileSettings, openFileQuota } from './file-quota.ts';
import { type FileStore, fileStore } from './file-store.ts';

/** The dependencies of a service that keeps files. */
export interface FileContext {
  files: FileStore;
  /** Bounds the bytes of files that a person stores. */
  quota: FileQuota;
  /** Bounds the files that are fetched for callers and are in memory. */
  fileBytes: ByteBudget;
  /** Bounds the pieces of files that are read at once for each caller, so that many downloads do not delay others. */
  fileReads: KeyedSlots;
  outbound: OutboundGuard;
  runtime: Runtime;
}

const readsPerCaller = 2;

/** Makes the context of files from the parts of a kit. */
export function fileContext(
  connection: Connection,
  { outbound, runtime, settings }: Pick<FileContext, 'outbound' | 'runtime'> & { settings(): Promise<FileSettings> },
): FileContext {
  return {
    files: fileStore(connection),
    quota: openFileQuota(connection, settings),
    // Two at a time for a caller, four in total.
    fileBytes: byteBudget({ total: 4 * maxFileBytes, perKey: 2 * maxFileBytes }),
    fileReads: keyedSlots(readsPerCaller),
    outbound,
    runtime,
  };
}
