import type { Socket } from 'node:net';
import { type buildConnector, Client, type Dispatcher, Pool } from 'undici';
import { type Connection, Exchange } from './exchange.ts';

/** Sockets that are open to an origin at once. Further requests wait for one, within their deadlines. */
const maxSocketsPerOrigin = 64;
const keepAliveMs = 4000;

const clientOptions: Client.Options = {
  allowH2: false,
  pipelining: 1,
  keepAliveTimeout: keepAliveMs,
  // However long a server offers to keep the connection.
  keepAliveMaxTimeout: keepAliveMs,
  // The deadline of the whole exchange covers both.
  headersTimeout: 0,
  bodyTimeout: 0,
  maxHeaderSize: 16 * 1024,
};

/** The connection pools of a process, one per origin. */
export interface OriginPools {
  /** Sends a request; the exchange has its result. */
  send(options: Dispatcher.DispatchOptions & { origin: string }, exchange: Exchange): void;
  /** Returns the origins that have a pool. */
  origins(): readonly string[];
  /** Ends all connections. */
  destroy(): Promise<void>;
}

/**
 * Opens the connection pools. Connections speak HTTP/1.1, are closed after 4 s without a request and are not used for longer
 * than a minute, after which the addresses of the host are resolved and checked again. The pool of an origin without
 * requests is removed, so that requests to ever new origins take no memory for longer than that; undici's `Agent` keeps
 * those whose last request was aborted.
 */
export function originPools(connect: buildConnector.connector): OriginPools {
  const pools = new Map<string, OriginPool>();
  const open = (origin: string) => {
    const pool = new Pool(origin, {
      ...clientOptions,
      connect,
      connections: maxSocketsPerOrigin,
      clientTtl: 60_000,
      factory: (url) => new ConnectionClient(url, clientOptions, connect),
    });
    const opened: OriginPool = { pool, inFlight: 0, removal: undefined };
    pools.set(origin, opened);
    return opened;
  };
  const removeWhenIdle = (origin: string, opened: OriginPool) => {
    if (opened.inFlight > 0) return;
    opened.removal = setTimeout(() => {
      pools.delete(origin);
      void opened.pool.destroy();
    }, keepAliveMs).unref();
  };
  return {
    send(options, exchange) {
      const opened = pools.get(options.origin) ?? open(options.origin);
      clearTimeout(opened.removal);
      opened.inFlight++;
      const onEnd = () => {
        opened.inFlight--;
        removeWhenIdle(options.origin, opened);
      };
      exchange.result.then(onEnd, onEnd);
      opened.pool.dispatch(options, exchange);
    },
    origins: () => [...pools.keys()],
    async destroy() {
      const all = [...pools.values()];
      pools.clear();
      for (const { removal } of all) clearTimeout(removal);
      await Promise.all(all.map(({ pool }) => pool.destroy()));
    },
  };
}

interface OriginPool {
  pool: Pool;
  /** The exchanges that have not ended. */
  inFlight: number;
  removal: NodeJS.Timeout | undefined;
}

/** An undici client with one connection at a time, which its exchanges get, so that they know its remote address. */
class ConnectionClient extends Client {
  readonly #connection: Connection;

  constructor(origin: URL, options: Client.Options, connect: buildConnector.connector) {
    let current: Socket | undefined;
    const connection: Connection = { address: undefined, bytesReceived: () => current?.bytesRead ?? 0 };
    super(origin, {
      ...options,
      connect: (to, callback) =>
        connect(to, (...[error, socket]) => {
          current = socket ?? undefined;
          connection.address = socket?.remoteAddress;
          if (error) callback(error, null);
          else callback(null, socket);
        }),
    });
    this.#connection = connection;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (handler instanceof Exchange) handler.connection = this.#connection;
    return super.dispatch(options, handler);
  }
}
