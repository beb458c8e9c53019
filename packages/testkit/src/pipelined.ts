import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** The requests of a client that does not wait for responses. */
export interface PipelinedRequests {
  port: number;
  path: string;
  count: number;
  headers?: Readonly<Record<string, string>>;
}

/** Connects, and sends the same request many times at once. Nothing of the responses is read. */
export async function sendPipelined({ port, path, count, headers = {} }: PipelinedRequests): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').pause();
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const lines = Object.entries({ host: 'a', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`.repeat(count));
  return socket;
}

/** Reads what a server has sent until it closes the connection. Returns the statuses of the responses, in their order. */
export async function readStatuses(socket: Socket): Promise<number[]> {
  const pieces: string[] = [];
  socket.setEncoding('latin1').on('data', (piece: string) => pieces.push(piece));
  socket.resume();
  if (!socket.closed) await once(socket, 'close');
  return [...pieces.join('').matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}
