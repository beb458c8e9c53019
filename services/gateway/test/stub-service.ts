import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import https, { type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A request that the stub received. */
export interface ReceivedRequest {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

/** The header that distinguishes responses of the stub from those of the gateway itself. */
export const stubHeader = 'x-stub';

/** A stub of the tickets service. It records every request and responds with `{}`, unless a test wants another response. */
export interface StubService {
  url: string;
  received: ReceivedRequest[];
  /** Handles the next request with this function instead; it is not recorded and its body is not read. */
  next(handle: (request: IncomingMessage, response: ServerResponse) => void): void;
  /** Sets the response of `/openapi.json`; undefined, the default, is 404. */
  setDescription(document: object | undefined): void;
  close(): Promise<void>;
}

/** The last request that the stub recorded. */
export function findLast(stub: StubService): ReceivedRequest {
  const last = stub.received.at(-1);
  if (!last) throw new Error('the stub was not called');
  return last;
}

/** Starts a stub, with TLS if its options are given; port 0 is any free port. */
export async function startStub(port = 0, tls?: ServerOptions): Promise<StubService> {
  const received: ReceivedRequest[] = [];
  let handleNext: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  let description: object | undefined;
  const respond: RequestListener = async (request, response) => {
    response.setHeader(stubHeader, '1');
    if (request.url === '/openapi.json') {
      response.writeHead(description ? 200 : 404).end(JSON.stringify(description ?? {}));
      return;
    }
    const handle = handleNext;
    handleNext = undefined;
    if (handle) {
      handle(request, response);
      return;
    }
    const { method = '', url = '', headers } = request;
    try {
      received.push({ method, url, headers, body: await buffer(request) });
      response.setHeader('content-type', 'application/json').end('{}');
    } catch {
      response.destroy();
    }
  };
  const server = tls ? https.createServer(tls, respond) : createServer(respond);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    next: (handle) => {
      handleNext = handle;
    },
    setDescription: (document) => {
      description = document;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
