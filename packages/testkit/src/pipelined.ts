import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** The requests of a client that does not wait for responses. */
export interface PipelinedRequests {
  port: number;
  path: string;
  count: number;
  /** Whether the last request asks for the end of the connection. */
  isClosed?: boolean;
}

/** Connects, and sends the same request many times at once. Nothing of the responses is read. */
export async function sendPipelined({ port, path, count, isClosed }: PipelinedRequests): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').pause();
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const head = `GET ${path} HTTP/1.1\r\nhost: a\r\n`;
  socket.write(`${`${head}\r\n`.repeat(count - 1)}${head}${isClosed ? 'connection: close\r\n' : ''}\r\n`);
  return socket;
}

/** Reads what a server has sent until it closes the connection. Returns the statuses of the responses, in their order. */
export async function readStatuses(socket: Socket): Promise<number[]> {
  const pieces: string[] = [];
  socket.setEncoding('latin1').on('data', (piece: string) => pieces.push(piece));
  socket.resume();
  // A connection that is reset has an error first.
  if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
  return [...pieces.join('').matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}
