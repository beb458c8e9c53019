import { randomBytes } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Channel } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import {
  CreateTicketRequestSchema,
  CreateTicketResponseSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';

/** The data that the client needs to reach the service. */
export interface FileClientData {
  url: string;
  token: string;
  fileBytes: number;
}

/** A request of the client: an upload of a file, or a download of the last one. */
export interface FileRequest {
  kind: 'upload' | 'upload-rpc' | 'download';
  headers?: Record<string, string>;
}

const { url, token, fileBytes } = workerData as FileClientData;
const base64 = randomBytes(fileBytes).toString('base64');
let lastPath = '';

// A separate thread: making and reading such requests would block the service, which shares the thread of the test.
parentPort?.on('message', async (request: FileRequest) => {
  parentPort?.postMessage(await send(request).catch(String));
});

/** Returns the status, and how many bytes were read. */
async function send({ kind, headers = {} }: FileRequest): Promise<[status: number, bytes: number]> {
  const allHeaders = { authorization: `Bearer ${token}`, ...headers };
  if (kind === 'download') {
    const response = await fetch(url + lastPath, { headers: allHeaders });
    return [response.status, (await response.arrayBuffer()).byteLength];
  }
  const [path, type, body] = kind === 'upload' ? viaRest() : viaRpc();
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { ...allHeaders, 'content-type': type },
    body,
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  if (response.ok) lastPath = kind === 'upload' ? JSON.parse(bytes.toString()).attachments[0].url : pathIn(bytes);
  return [response.status, bytes.length];
}

function viaRest(): [path: string, type: string, body: string] {
  return ['/ticket', 'application/json', JSON.stringify({ channel: 'chat', attachments: [{ base64 }] })];
}

/** The protocol of Connect, whose bodies are the messages themselves. */
function viaRpc(): [path: string, type: string, body: Buffer<ArrayBuffer>] {
  const request = create(CreateTicketRequestSchema, { channel: Channel.CHAT, attachments: [{ base64 }] });
  const body = Buffer.from(toBinary(CreateTicketRequestSchema, request));
  return ['/ticketing.tickets.v1.TicketService/CreateTicket', 'application/proto', body];
}

function pathIn(bytes: Buffer): string {
  return fromBinary(CreateTicketResponseSchema, bytes).ticket?.attachments[0]?.url ?? '';
}
