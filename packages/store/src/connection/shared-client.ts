import { setTimeout } from 'node:timers/promises';
import mongoose, { type Connection, type ConnectOptions } from 'mongoose';
import { followServerTime } from './server-time.ts';

/** How many connections there are, and how long an operation waits for one. */
export interface PoolLimits {
  size: number;
  waitMs: number;
}

/** How a client connects. Equal options of the same server share a client. */
export interface ClientOptions {
  uri: string;
  pool: PoolLimits;
  /** Whether its commands can be recorded. */
  monitorCommands: boolean;
}

/** A client of a database server. All databases of a process on that server share its connections and its heartbeats. */
export interface SharedClient {
  /** Returns a database, whose operations fail until the client has connected. */
  database(name: string): Connection;
  /** Resolves when the server has been reached for the first time; never if the client is closed before. */
  connected: Promise<void>;
  /** When the server last responded to a heartbeat, by the monotonic clock; -Infinity if the last one failed. */
  respondedAt(): number;
  /**
   * Calls a listener after each failed attempt to reach the server for the first time, until the returned function is
   * called.
   */
  onFailure(listener: (error: unknown) => void): () => void;
  /** Ends this use of the client, once however often it is called. The client closes when all its uses have ended. */
  release(): Promise<void>;
}

/** The pause between two attempts to reach a database for the first time. */
export const retryMs = 500;

/**
 * How often the server is asked whether it responds. A server that stops responding without closing its connections is
 * noticed by that, within 2 s.
 */
export const heartbeatMs = 500;

interface OpenClient extends Omit<SharedClient, 'release'> {
  uses: Set<object>;
  close(): Promise<void>;
}

const clients = new Map<string, OpenClient>();

/** Returns the client of a server, without waiting for it. It keeps trying to connect. */
export function shareClient(options: ClientOptions): SharedClient {
  const key = JSON.stringify(options);
  const client = clients.get(key) ?? openClient(options);
  clients.set(key, client);
  const use = {};
  client.uses.add(use);
  return {
    ...client,
    async release() {
      if (!client.uses.delete(use) || client.uses.size > 0) return;
      clients.delete(key);
      await client.close();
    },
  };
}

function openClient(options: ClientOptions): OpenClient {
  const base = mongoose.createConnection();
  // The databases take it over from their client before it connects.
  base.set('bufferCommands', false);
  const closing = new AbortController();
  const listeners = new Set<(error: unknown) => void>();
  const connected = Promise.withResolvers<void>();
  let respondedAt = Number.NEGATIVE_INFINITY;
  let stopFollowing: (() => void) | undefined;

  /** mongoose gives up when the first attempt fails, so attempts are repeated; later the driver reconnects by itself. */
  async function connect(): Promise<void> {
    while (!closing.signal.aborted && !stopFollowing) {
      try {
        await base.openUri(options.uri, connectOptions(options));
        stopFollowing = await followServerTime(base);
        recordHeartbeats();
        connected.resolve();
      } catch (error) {
        for (const listener of listeners) listener(error);
        await setTimeout(retryMs, undefined, { signal: closing.signal }).catch(() => undefined);
      }
    }
  }

  function recordHeartbeats(): void {
    const client = base.getClient();
    // Each database of the client may record its commands.
    client.setMaxListeners(0);
    client.on('serverHeartbeatSucceeded', ({ reply }) => {
      if (reply.isWritablePrimary !== false) respondedAt = performance.now();
    });
    client.on('serverHeartbeatFailed', () => {
      respondedAt = Number.NEGATIVE_INFINITY;
    });
  }

  const ended = connect();
  return {
    uses: new Set(),
    database: (name) => base.useDb(name),
    connected: connected.promise,
    respondedAt: () => respondedAt,
    onFailure(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async close() {
      closing.abort();
      await ended;
      stopFollowing?.();
      await base.close();
    },
  };
}

function connectOptions({ uri, pool: { size, waitMs }, monitorCommands }: ClientOptions): ConnectOptions {
  return {
    monitorCommands,
    autoIndex: false,
    autoCreate: false,
    bufferCommands: false,
    serverSelectionTimeoutMS: 1500,
    connectTimeoutMS: 1500,
    heartbeatFrequencyMS: heartbeatMs,
    // Needs one connection; the driver's streaming protocol would need two, and twice the messages.
    serverMonitoringMode: 'poll',
    maxPoolSize: size,
    // While a server hangs, requests that need new connections fail together, and not two after two.
    maxConnecting: Math.min(10, size),
    minPoolSize: Math.min(2, size),
    waitQueueTimeoutMS: waitMs,
    ...(/[?&]w=/.test(uri) ? {} : { writeConcern: { w: 'majority', journal: true } }),
    readConcern: { level: 'majority' },
    // A second attempt would wait for a server once more, and the request would be responded to after 3.5 s instead of 2.
    retryReads: false,
    retryWrites: false,
  };
}
