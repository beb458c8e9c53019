import { once } from 'node:events';
import { type Agent, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { buffer, text } from 'node:stream/consumers';

/** What a call says beyond its method and path; headers are sent exactly as they are given. */
export interface HttpCall {
  headers?: Record<string, string | string[]>;
  body?: string | Buffer;
  /** Sends the body in pieces of this many bytes, without saying its length. */
  chunkBytes?: number;
  agent?: Agent;
}

export interface HttpAnswer {
  status: number;
  headers: IncomingMessage['headers'];
  body: Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  json: any;
}

/** Makes one HTTP call, on a connection of its own unless an agent is given. */
export async function send(port: number, method: string, path: string, call: HttpCall = {}): Promise<HttpAnswer> {
  const outgoing = request({ host: '127.0.0.1', port, method, path, agent: call.agent ?? false });
  for (const [name, value] of Object.entries(call.headers ?? {})) outgoing.setHeader(name, value);
  const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>;
  // An early answer may end the connection while the body is still being written.
  outgoing.on('error', () => undefined);
  if (call.body !== undefined && call.chunkBytes === undefined) {
    outgoing.setHeader('content-length', Buffer.byteLength(call.body));
    outgoing.end(call.body);
  } else {
    for (const piece of pieces(call)) outgoing.write(piece);
    outgoing.end();
  }
  const [incoming] = await answered;
  const body = await buffer(incoming);
  const isJson = /json/.test(incoming.headers['content-type'] ?? '');
  return {
    status: incoming.statusCode ?? 0,
    headers: incoming.headers,
    body,
    json: isJson && body.length > 0 ? JSON.parse(body.toString()) : undefined,
  };
}

function pieces({ body, chunkBytes = 1 }: HttpCall): Buffer[] {
  const whole = Buffer.from(body ?? '');
  return Array.from({ length: Math.ceil(whole.length / chunkBytes) }, (_, index) =>
    whole.subarray(index * chunkBytes, (index + 1) * chunkBytes),
  );
}

/** Sends bytes as they are, and answers everything that comes back until the server ends the connection. */
export async function sendRaw(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(bytes);
  return text(socket);
}
