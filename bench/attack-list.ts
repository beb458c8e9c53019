import { create, toBinary } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import {
  CreateTicketRequestSchema,
  SearchTicketsRequestSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { type HeldResponse, heldRequest } from '@ticketing/testkit/held-request.ts';
import {
  gRpc,
  type HostileRequest,
  type HostileResponse,
  hostileClient,
  toBody,
} from '@ticketing/testkit/hostile-rpc.ts';

/** The system under attack, and the credentials of the attacker. */
export interface AttackTarget {
  /** The ports of the tickets service, which accepts the largest requests. */
  tickets: { http: number; grpc: number };
  gatewayPort: number;
  /** A token of the issuer for an ordinary machine. */
  token: string;
}

/** An attack that is repeated while another caller is measured. */
export interface Attack {
  name: string;
  /** The service whose memory is watched; the tickets service if not given. */
  service?: string;
  /** Stores what the attack needs, before anything is measured. */
  prepare?(target: AttackTarget): Promise<void>;
  /** Attacks once. Returns what the attacker saw, in a few words. */
  run(target: AttackTarget): Promise<string>;
}

const MiB = 1024 * 1024;
const createTicket = '/ticketing.tickets.v1.TicketService/CreateTicket';
const searchTickets = '/ticketing.tickets.v1.TicketService/SearchTickets';

/** A serialised ticket whose `raw_data` has a list of empty values, which take this many bytes. */
function ticketOfValues(bytes: number): Buffer {
  const values = Buffer.alloc(bytes, Buffer.from([0x0a, 0x00]));
  const nested = (number: number, content: Buffer) => Buffer.concat([tag(number), varint(content.length), content]);
  const entry = nested(1, Buffer.concat([nested(1, Buffer.from('k')), nested(2, nested(6, values))]));
  return nested(CreateTicketRequestSchema.field.rawData.number, entry);
}

const tag = (number: number) => varint(number * 8 + 2);

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) + 128);
  }
}

const bomb = { compression: 'gzip' as const, body: toBody(gRpc, ticketOfValues(39 * MiB), 'gzip') };

/** Sends an RPC on a separate connection. */
async function call(
  { tickets }: AttackTarget,
  request: Omit<HostileRequest, 'protocol' | 'path'> & { path?: string },
): Promise<HostileResponse> {
  const client = hostileClient(tickets);
  const response = await client.send({ protocol: gRpc, path: createTicket, ...request });
  client.close();
  return response;
}

function post({ gatewayPort: port, token }: AttackTarget, path: string, body: string | Buffer, heldBytes?: number) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const signal = AbortSignal.timeout(heldMs);
  return heldRequest({ port, method: 'POST', path, headers, body: Buffer.from(body), heldBytes, signal });
}

/** Downloads a file and discards it. Returns the status. */
async function download({ gatewayPort, token }: AttackTarget, path: string): Promise<string> {
  const headers = { authorization: `Bearer ${token}` };
  try {
    const signal = AbortSignal.timeout(heldMs);
    const response = await fetch(`http://127.0.0.1:${gatewayPort}${path}`, { headers, signal });
    await response.body?.pipeTo(new WritableStream());
    return String(response.status);
  } catch {
    return 'no complete response';
  }
}

let largeTickets: Promise<void> | undefined;

/** Stores 280 tickets with 1 MiB of `rawData` each, once. */
function storeLargeTickets(target: AttackTarget): Promise<void> {
  const rawData = { text: 'a'.repeat(MiB - 100) };
  largeTickets ??= (async () => {
    for (let count = 0; count < 280; count++)
      await post(target, '/ticket', JSON.stringify({ channel: 'chat', rawData }));
  })();
  return largeTickets;
}

/** Sends requests on connections of 100 streams each, and ends those that have no response after some time. */
async function hold({ tickets }: AttackTarget, count: number, request: HostileRequest): Promise<string> {
  const clients = Array.from({ length: Math.ceil(count / 100) }, () => hostileClient(tickets));
  const streams = clients.flatMap((client) => Array.from({ length: 100 }, () => client.send(request)));
  const responses = Promise.all(streams);
  await Promise.race([responses, new Promise((resolve) => setTimeout(resolve, heldMs))]);
  for (const client of clients) client.close();
  return seenByRpc(await responses);
}

const heldMs = 4_000;
const times = <Result>(count: number, work: () => Promise<Result>) => Promise.all(Array.from({ length: count }, work));
const seenByRpc = (all: readonly HostileResponse[]) =>
  countMatching(
    all.map(({ code, httpStatus }) =>
      code === undefined ? (httpStatus === undefined ? 'no response' : `HTTP ${httpStatus}`) : (Code[code] ?? ''),
    ),
  );
const seenByRest = (all: readonly HeldResponse[]) =>
  countMatching(all.map(({ status }) => String(status ?? 'no response')));

function countMatching(words: readonly string[]): string {
  return [...Map.groupBy(words, (word) => word)].map(([word, { length }]) => `${length} × ${word}`).join(', ');
}

/** The attacks. Source: docs/reference/guarantees.md, Untrusted input. */
export const attacks: readonly Attack[] = [
  {
    name: 'gRPC: 39 MiB of values in 40 kB, without a credential',
    run: async (target) => seenByRpc(await times(4, () => call(target, bomb))),
  },
  {
    name: 'gRPC: the same with a token',
    run: async (target) => seenByRpc(await times(4, () => call(target, { ...bomb, token: target.token }))),
  },
  {
    name: 'HTTP: 30 MiB to CreateTicke%74, without a credential',
    async run({ tickets }) {
      const headers = { 'content-type': 'application/proto' };
      const path = createTicket.replace(/t$/, '%74');
      const body = Buffer.alloc(30 * MiB);
      const request = { port: tickets.http, method: 'POST', path, headers, body, heldBytes: 100 };
      return seenByRest(await times(8, () => heldRequest({ ...request, signal: AbortSignal.timeout(heldMs) })));
    },
  },
  {
    name: 'REST: 2 MiB of lists in lists, and of keys',
    async run(target) {
      const deep = `{"rawData":${'['.repeat(900_000)}`;
      const keys = `{"rawData":{${Array.from({ length: 180_000 }, (_, key) => `"${key.toString(36)}":1`).join()}}}`;
      return seenByRest([
        ...(await times(4, () => post(target, '/ticket', deep))),
        await post(target, '/ticket', keys),
      ]);
    },
  },
  {
    name: 'gRPC: 1,000 streams with half a message',
    run: (target) =>
      hold(target, 1000, {
        protocol: gRpc,
        path: createTicket,
        token: target.token,
        body: Buffer.alloc(6),
        heldBytes: 100,
      }),
  },
  {
    name: 'REST: 32 uploads of 30 MiB that do not end',
    run: async (target) =>
      seenByRest(await times(32, () => post(target, '/ticket', `{"body":"${'a'.repeat(30 * MiB)}`, 100))),
  },
  {
    name: 'REST: five searches for 280 tickets with 1 MiB of rawData each',
    prepare: storeLargeTickets,
    async run(target) {
      const search = '/ticket/search?includeRawData=true';
      return seenByRest(await times(5, () => post(target, search, '{"limit":500}')));
    },
  },
  {
    name: 'gRPC: the same by RPC',
    prepare: storeLargeTickets,
    async run(target) {
      const request = create(SearchTicketsRequestSchema, { includeRawData: true, limit: 500 });
      const body = toBody(gRpc, toBinary(SearchTicketsRequestSchema, request), 'identity');
      const { token } = target;
      return seenByRpc(await times(5, () => call(target, { path: searchTickets, token, body })));
    },
  },
  {
    name: 'REST: five exports of these tickets at once',
    service: 'reporting',
    prepare: storeLargeTickets,
    run: async (target) =>
      countMatching(await times(5, () => download(target, '/export/reporting_tickets?format=csv&limit=1000'))),
  },
  {
    name: 'gRPC: 200 watchers of health, without a credential',
    run: (target) => hold(target, 200, { protocol: gRpc, path: '/grpc.health.v1.Health/Watch', body: Buffer.alloc(5) }),
  },
  {
    name: 'REST: four bodies of 5 MiB of <td> at once',
    async run(target) {
      const ticket = JSON.stringify({ channel: 'email', body: '<td>'.repeat((5 * MiB) / 4) });
      return seenByRest(await times(4, () => post(target, '/ticket', ticket)));
    },
  },
  {
    name: 'REST: bodies of 5 MiB of <, of 100,000 nested lists, of entities',
    async run(target) {
      const bodies = ['<'.repeat(5 * MiB), '<ul><li>'.repeat(100_000), '&amp;'.repeat(MiB), '<p a='.repeat(MiB)];
      const responses: HeldResponse[] = [];
      for (const body of bodies)
        responses.push(await post(target, '/ticket', JSON.stringify({ channel: 'email', body })));
      return seenByRest(responses);
    },
  },
];
