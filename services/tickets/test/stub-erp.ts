import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A customer in the JSON of the ERP system. */
export interface StubCustomer {
  id: string;
  email?: string | null;
  contracts?: { id: string; customerId?: string; email?: string }[];
  [name: string]: unknown;
}

/** How the stub responds; a function responds in its place. */
type Behaviour = 'ok' | 'held' | 'reset' | ((response: ServerResponse) => void);

/** An ERP system behind the endpoints of docs/services/erp.md, for tests. */
export interface StubErp {
  url: string;
  customers: StubCustomer[];
  /** Method, path and body of each request. */
  calls: string[];
  /** The `Authorization` of each request. */
  tokens: (string | undefined)[];
  behaviour: Behaviour;
  /** Responds to the requests that were held, and to all others at once. */
  release(): void;
  stop(): Promise<void>;
}

/** Starts a stub on a free port. */
export async function startStubErp(): Promise<StubErp> {
  const held: (() => void)[] = [];
  const server = createServer(async (request, response) => {
    const body = await textOf(request);
    stub.calls.push(`${request.method} ${request.url} ${body}`.trim());
    stub.tokens.push(request.headers.authorization);
    const respond = () => respondTo(stub.customers, request, body, response);
    const { behaviour } = stub;
    if (behaviour === 'reset') request.socket.resetAndDestroy();
    else if (behaviour === 'held') held.push(respond);
    else if (behaviour === 'ok') respond();
    else behaviour(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stub: StubErp = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/erp/`,
    customers: [],
    calls: [],
    tokens: [],
    behaviour: 'ok',
    release() {
      stub.behaviour = 'ok';
      for (const respond of held.splice(0)) respond();
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return stub;
}

function respondTo(customers: StubCustomer[], request: IncomingMessage, body: string, response: ServerResponse): void {
  const [, kind, id = ''] = /^\/erp\/(customers|contracts)\/(.+)$/.exec(request.url ?? '') ?? [];
  const contractsOf = (customer: StubCustomer) => customer.contracts ?? [];
  const send = (value: unknown) => {
    response.writeHead(value === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(value ?? {}));
  };
  if (request.method === 'GET' && kind === 'customers') {
    send(customers.find((customer) => customer.id === decodeURIComponent(id)));
  } else if (request.method === 'GET' && kind === 'contracts') {
    send(customers.flatMap(contractsOf).find((contract) => contract.id === decodeURIComponent(id)));
  } else if (id === 'match') {
    const { ids, email } = JSON.parse(body) as { ids: string[]; email: string | null };
    const found = customers.filter(
      (customer) =>
        [customer, ...contractsOf(customer)].some((one) => ids.includes(one.id)) ||
        (email !== null && customer.email === email),
    );
    send({ customers: found });
  } else {
    const { q = '', offset, limit } = JSON.parse(body) as { q?: string; offset: number; limit: number };
    const found = customers.filter((customer) => JSON.stringify(customer).includes(q));
    send({ customers: found.slice(offset, offset + limit), total: found.length });
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}
