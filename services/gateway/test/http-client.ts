import { once } from 'node:events';
import { type Agent, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { buffer, text } from 'node:stream/consumers';

/** The parts of a request besides its method and path. Headers are sent exactly as given. */
export interface HttpRequest {
  headers?: Record<string, string | string[]>;
  body?: string | Buffer;
  /** Sends the body chunked, in pieces of this many bytes, without a `Content-Length`. */
  chunkBytes?: number;
  agent?: Agent;
}

/** A response; `json` is its parsed body, if it is JSON. */
export interface HttpResponse {
  status: number;
  headers: IncomingMessage['headers'];
  body: Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies of every shape
  json: any;
}

/** Sends a request, on a new connection unless an agent is given. */
export async function send(port: number, method: string, path: string, call: HttpRequest = {}): Promise<HttpResponse> {
  const outgoing = request({ host: '127.0.0.1', port, method, path, agent: call.agent ?? false });
  for (const [name, value] of Object.entries(call.headers ?? {})) outgoing.setHeader(name, value);
  const responded = once(outgoing, 'response') as Promise<[IncomingMessage]>;
  // An early response may end the connection while the body is still being written.
  outgoing.on('error', () => undefined);
  if (call.body !== undefined && call.chunkBytes === undefined) {
    outgoing.setHeader('content-length', Buffer.byteLength(call.body));
    outgoing.end(call.body);
  } else {
    for (const piece of pieces(call)) outgoing.write(piece);
    outgoing.end();
  }
  const [incoming] = await responded;
  const body = await buffer(incoming);
  const isJson = /json/.test(incoming.headers['content-type'] ?? '');
  return {
    status: incoming.statusCode ?? 0,
    headers: incoming.headers,
    body,
    json: isJson && body.length > 0 ? JSON.parse(body.toString()) : undefined,
  };
}

function pieces({ body, chunkBytes = 1 }: HttpRequest): Buffer[] {
  const whole = Buffer.from(body ?? '');
  return Array.from({ length: Math.ceil(whole.length / chunkBytes) }, (_, index) =>
    whole.subarray(index * chunkBytes, (index + 1) * chunkBytes),
  );
}

/** Sends bytes as they are. Returns everything that the server sends until it ends the connection. */
export async function sendRaw(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(bytes);
  return text(socket);
}
