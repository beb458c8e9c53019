import { Code } from '@connectrpc/connect';
import { type HeldResponse, heldRequest } from '@ticketing/testkit/held-request.ts';
import { bodyOf, gRpc, type HostileResponse, hostileClient } from '@ticketing/testkit/hostile-rpc.ts';

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
  /** Stores what the attack needs, before anything is measured. */
  prepare?(target: AttackTarget): Promise<void>;
  /** Attacks once. Returns what the attacker saw, in a few words. */
  run(target: AttackTarget): Promise<string>;
}

const MiB = 1024 * 1024;
const createTicket = '/ticketing.tickets.v1.TicketService/CreateTicket';

/** A ticket whose `raw_data` has a list of so many empty values, serialised. */
function ticketOfValues(bytes: number): Buffer {
  const values = Buffer.alloc(bytes, Buffer.from([0x0a, 0x00]));
  const nested = (number: number, content: Buffer) => Buffer.concat([tag(number), varint(content.length), content]);
  const entry = nested(1, Buffer.concat([nested(1, Buffer.from('k')), nested(2, nested(6, values))]));
  return nested(rawDataField, entry);
}

/** The number of `raw_data` in a request to create a ticket. */
const rawDataField = 22;
const tag = (number: number) => varint(number * 8 + 2);

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) + 128);
  }
}

const bomb = { compression: 'gzip' as const, body: bodyOf(gRpc, ticketOfValues(39 * MiB), 'gzip') };

/** Sends an RPC on a connection of its own. */
async function call(
  { tickets }: AttackTarget,
  request: Omit<Parameters<ReturnType<typeof hostileClient>['send']>[0], 'protocol' | 'path'>,
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

const heldMs = 4_000;
const times = <Result>(count: number, work: () => Promise<Result>) => Promise.all(Array.from({ length: count }, work));
const seenByRpc = (all: readonly HostileResponse[]) =>
  countOf(
    all.map(({ code, httpStatus }) =>
      code === undefined ? (httpStatus === undefined ? 'no response' : `HTTP ${httpStatus}`) : (Code[code] ?? ''),
    ),
  );
const seenByRest = (all: readonly HeldResponse[]) => countOf(all.map(({ status }) => String(status ?? 'no response')));

function countOf(words: readonly string[]): string {
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
      const path = createTicket.replace('Ticket', 'Ticke%74').replace(/t$/, '%74');
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
    async run({ tickets, token }) {
      const client = hostileClient(tickets);
      const held = { protocol: gRpc, path: createTicket, token, body: Buffer.alloc(6), heldBytes: 100 };
      const streams = times(1000, () => client.send(held));
      await Promise.race([streams, new Promise((resolve) => setTimeout(resolve, heldMs))]);
      client.close();
      return seenByRpc(await streams);
    },
  },
  {
    name: 'REST: 32 uploads of 30 MiB that do not end',
    run: async (target) =>
      seenByRest(await times(32, () => post(target, '/ticket', `{"body":"${'a'.repeat(30 * MiB)}`, 100))),
  },
  {
    name: 'REST: five searches for 280 tickets with 1 MiB of rawData each',
    async prepare(target) {
      const rawData = { text: 'a'.repeat(MiB - 100) };
      for (let count = 0; count < 280; count++)
        await post(target, '/ticket', JSON.stringify({ channel: 'chat', rawData }));
    },
    async run(target) {
      const search = '/ticket/search?includeRawData=true';
      return seenByRest(await times(5, () => post(target, search, '{"limit":500}')));
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
