import { Agent, type buildConnector, Client, type Dispatcher, Pool } from 'undici';
import { type Connection, Exchange } from './exchange.ts';

/** Sockets that are open to an origin at once. Further requests wait for one, within their deadlines. */
const maxSocketsPerOrigin = 64;

/**
 * Opens the connection pools, one per origin. Connections speak HTTP/1.1, are closed after 4 s without a request and are
 * not used for longer than a minute, after which the addresses of the host are resolved and checked again.
 */
export function guardedAgent(connect: buildConnector.connector): Dispatcher {
  const shared = {
    allowH2: false,
    pipelining: 1,
    keepAliveTimeout: 4000,
    // However long a server offers to keep the connection.
    keepAliveMaxTimeout: 10_000,
    // The deadline of the whole exchange covers both.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: 16 * 1024,
  };
  return new Agent({
    factory: (origin) =>
      new Pool(origin, {
        ...shared,
        connect,
        connections: maxSocketsPerOrigin,
        clientTtl: 60_000,
        factory: (url) => new ConnectionClient(url, shared, connect),
      }),
  });
}

/** A client, which has one connection at a time, whose exchanges know the address of their connection. */
class ConnectionClient extends Client {
  readonly #connection: Connection;

  constructor(origin: URL, options: Client.Options, connect: buildConnector.connector) {
    const connection: Connection = { address: undefined };
    super(origin, {
      ...options,
      connect: (to, callback) =>
        connect(to, (...[error, socket]) => {
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
