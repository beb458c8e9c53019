import { parentPort, workerData } from 'node:worker_threads';
import { createClient } from '@connectrpc/connect';
import { createConnectTransport, createGrpcTransport } from '@connectrpc/connect-node';
import { Channel } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { TicketService } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';

/** The ways into the service. */
export type Protocol = 'rest' | 'connect' | 'connect-json' | 'grpc';

/** Where the service is, and a token for it. */
export interface ClientData {
  protocol: Protocol;
  url: string;
  grpcUrl: string;
  token: string;
}

/** The texts of a ticket as the service has returned them. */
export interface ShownTexts {
  id: number;
  body: string | undefined;
  bodyPlain: string | undefined;
  bodyClean: string | undefined;
}

/** The body to post: a prefix, and a unit that is repeated up to a number of bytes. */
export interface BodyRequest {
  prefix: string;
  unit: string;
  bytes: number;
}

// A thread, so that the work of the client does not count as work of the service. It posts a ticket and reads it.
const { protocol, url, grpcUrl, token } = workerData as ClientData;

async function viaRest(body: string): Promise<ShownTexts[]> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const request = { method: 'POST', headers, body: JSON.stringify({ channel: 'letter', body }) };
  const posted = (await (await fetch(`${url}/ticket`, request)).json()) as ShownTexts;
  const read = (await (await fetch(`${url}/ticket/${posted.id}`, { headers })).json()) as ShownTexts;
  return [posted, read];
}

async function viaRpc(body: string): Promise<(ShownTexts | undefined)[]> {
  const options = { baseUrl: url, httpVersion: '1.1', useBinaryFormat: protocol === 'connect' } as const;
  const transport = protocol === 'grpc' ? createGrpcTransport({ baseUrl: grpcUrl }) : createConnectTransport(options);
  const client = createClient(TicketService, transport);
  const headers = { authorization: `Bearer ${token}` };
  const posted = await client.createTicket({ channel: Channel.LETTER, body }, { headers });
  const read = await client.getTicket({ ticketId: posted.ticket?.id ?? 0 }, { headers });
  return [posted.ticket, read.ticket].map(
    (ticket) =>
      ticket && { id: ticket.id, body: ticket.body, bodyPlain: ticket.bodyPlain, bodyClean: ticket.bodyClean },
  );
}

parentPort?.on('message', async ({ prefix, unit, bytes }: BodyRequest) => {
  const count = Math.floor((bytes - Buffer.byteLength(prefix)) / Buffer.byteLength(unit));
  const body = prefix + unit.repeat(count);
  try {
    parentPort?.postMessage({ texts: await (protocol === 'rest' ? viaRest(body) : viaRpc(body)) });
  } catch (error) {
    parentPort?.postMessage({ error: String(error) });
  }
});
