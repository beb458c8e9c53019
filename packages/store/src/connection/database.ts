import { setTimeout } from 'node:timers/promises';
import type { Tracer } from '@ticketing/runtime/tracer.ts';
import { aborted } from '@ticketing/runtime/wakeful-loop.ts';
import type { Connection } from 'mongoose';
import { recordCommands } from './record-commands.ts';
import { heartbeatMs, type PoolLimits, retryMs, shareClient } from './shared-client.ts';
import { isSetUp } from './store-format.ts';

/** The database of a service. */
export interface Database {
  /** Equal for all connections to the same database by the same URI. */
  id: string;
  connection: Connection;
  /** Resolves when the database has been reached for the first time, and is set up; never if it is closed before. */
  opened: Promise<void>;
  /** Rejects if the database does not respond, or is not set up. */
  check(): Promise<void>;
  /** Whether it was reached, and is not set up for this version of the system yet. */
  isMissingSetUp(): boolean;
  close(): Promise<void>;
}

/** How a database is opened. */
export interface OpenOptions {
  /** Whether this process sets the database up; otherwise it counts as opened only when another process has. */
  isSetUpHere?: boolean;
  /** Tests replace it. */
  pool?: PoolLimits;
  /** How long it may be unreachable after this process has begun to open it, before that is reported. */
  quietMs?: number;
  /** Records a span of each command that a traced request sends. */
  tracer?: Tracer | undefined;
}

/** An operation that gets no connection in this time fails as if the database could not be reached. */
const defaultPool = { size: 50, waitMs: 5_000 };

/** A whole system that starts on a busy machine reaches its database within this time. */
const reportAfterMs = 10_000;
/** How old the last heartbeat may be to show that the server responds. */
const freshMs = 3 * heartbeatMs;

/**
 * Opens a database. Writes are acknowledged by a majority and journaled, unless the URI sets `w` (a single server has no
 * majority). Does not wait for the server: it keeps trying to connect and reports once that it fails, and operations fail
 * within 2 seconds while no server can be reached, and within 5 while all connections are in use.
 */
export function openDatabase(
  uri: string,
  name: string,
  onUnreachable: (error: unknown) => void,
  { isSetUpHere = false, pool = defaultPool, quietMs = reportAfterMs, tracer }: OpenOptions = {},
): Database {
  const client = shareClient({ uri, pool, monitorCommands: tracer !== undefined });
  const connection = client.database(name);
  const closing = new AbortController();
  const openedAt = performance.now();
  let isReported = false;
  let isOpened = false;
  let isMissingSetUp = false;

  function report(error: unknown): void {
    if (isReported || performance.now() - openedAt < quietMs) return;
    isReported = true;
    onUnreachable(error);
  }

  /** Waits until another process has set the database up. Reports once if that takes longer than a set-up should. */
  async function untilSetUp(): Promise<void> {
    for (let attempt = 1; !closing.signal.aborted; attempt++) {
      try {
        isMissingSetUp = !(await isSetUp(connection));
        if (!isMissingSetUp) return;
        if (attempt * retryMs === reportAfterMs) {
          onUnreachable(new Error('it is not set up for this version of the system'));
        }
      } catch (error) {
        // Nobody knows now whether it is set up.
        isMissingSetUp = false;
        report(error);
      }
      await setTimeout(retryMs, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  }

  async function open(): Promise<(() => void) | undefined> {
    const stopReporting = client.onFailure(report);
    await Promise.race([client.connected, aborted(closing.signal)]);
    stopReporting();
    if (!closing.signal.aborted && !isSetUpHere) await untilSetUp();
    if (closing.signal.aborted) return undefined;
    isOpened = true;
    return tracer && recordCommands(connection.getClient(), name, tracer);
  }

  const ended = open();
  return {
    id: `${uri} ${name}`,
    connection,
    opened: ended.then(() => (isOpened ? undefined : new Promise<never>(() => undefined))),
    async check() {
      if (!isOpened) throw new Error('the database has not been reached, or is not set up');
      if (performance.now() - client.respondedAt() < freshMs) return;
      await connection.getClient().db(name).command({ ping: 1 });
    },
    isMissingSetUp: () => isMissingSetUp,
    async close() {
      closing.abort();
      const stopRecording = await ended;
      stopRecording?.();
      await client.release();
    },
  };
}
