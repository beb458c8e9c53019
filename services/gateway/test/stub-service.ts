import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A request as a service got it. */
export interface ReceivedRequest {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

/** The header by which responses of the stub are told from those of the gateway. */
export const stubHeader = 'x-stub';

/** Stands for the tickets service: keeps what it is sent and answers `{}`, or whatever a test wants. */
export interface StubService {
  url: string;
  received: ReceivedRequest[];
  /** Answers the next request in this way instead; its body is not read. */
  next(answer: (request: IncomingMessage, response: ServerResponse) => void): void;
  /** What `/openapi.json` answers from now on; 404 at first. */
  describes(document: object | undefined): void;
  close(): Promise<void>;
}

/** The last request that a stub got. */
export function lastOf(stub: StubService): ReceivedRequest {
  const last = stub.received.at(-1);
  if (!last) throw new Error('the service was not called');
  return last;
}

export async function startStub(port = 0): Promise<StubService> {
  const received: ReceivedRequest[] = [];
  let special: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  let description: object | undefined;
  const server = createServer(async (request, response) => {
    response.setHeader(stubHeader, '1');
    if (request.url === '/openapi.json') {
      response.writeHead(description ? 200 : 404).end(JSON.stringify(description ?? {}));
      return;
    }
    const answer = special;
    special = undefined;
    if (answer) {
      answer(request, response);
      return;
    }
    const { method = '', url = '', headers } = request;
    try {
      received.push({ method, url, headers, body: await buffer(request) });
      response.setHeader('content-type', 'application/json').end('{}');
    } catch {
      response.destroy();
    }
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    next: (answer) => {
      special = answer;
    },
    describes: (document) => {
      description = document;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
