import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** A request whose body arrives in pieces of one byte each. */
export interface DribbledRequest {
  port: number;
  path: string;
  headers: Readonly<Record<string, string>>;
  /** The bytes with which the body begins, in Latin 1; the rest is spaces. */
  start?: string;
  /** How many pieces are sent, unless the server responds or closes the connection before. */
  pieces: number;
  /** How many of them are written at once; by default 500. */
  piecesAtOnce?: number;
}

/** How a dribbled request ended. */
export interface DribbleResult {
  /** Over HTTP/1.1 the bytes that the server has sent; over HTTP/2 its headers and trailers, one in a line. */
  received: string;
  /** How many pieces were sent when it responded. */
  pieces: number;
}

/** Sends a request over HTTP/1.1 in chunks of one byte. */
export async function dribbleHttp1({ path, headers, ...request }: DribbledRequest): Promise<DribbleResult> {
  const all = { host: 'a', 'transfer-encoding': 'chunked', connection: 'close', ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const socket = openSocket(request.port);
  const responded = new AbortController();
  let received = '';
  socket.on('data', (part) => {
    received += part.toString('latin1');
    responded.abort();
  });
  const closed = closedSocket(socket).then(() => responded.abort());
  socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
  const sent = await sendPieces(socket, request, (byte) => `1\r\n${byte}\r\n`, responded.signal);
  if (!responded.signal.aborted) socket.write('0\r\n\r\n');
  await closed;
  return { received, pieces: sent };
}

/**
 * Sends a request over HTTP/2 without TLS, in DATA frames of one byte. Node's client would join them, so they are written
 * on its socket beside it, within the window that a connection begins with: 65,535 pieces.
 */
export async function dribbleHttp2({ path, headers, ...request }: DribbledRequest): Promise<DribbleResult> {
  const socket = openSocket(request.port);
  const session = connectHttp2(`http://127.0.0.1:${request.port}`, { createConnection: () => besides(socket) });
  session.on('error', () => undefined);
  const stream = session.request(
    { ':method': 'POST', ':path': path, te: 'trailers', ...headers },
    { endStream: false },
  );
  const responded = new AbortController();
  let received = '';
  const note = (fields: object) => {
    for (const [name, value] of Object.entries(fields)) received += `${name}: ${value}\n`;
    responded.abort();
  };
  stream
    .on('response', note)
    .on('trailers', note)
    .on('error', () => undefined);
  // The session does not know that the body has ended, so a stream whose response has ended stays open for it.
  const closed = Promise.race([once(stream, 'end'), once(stream, 'close')]).then(() => responded.abort());
  await new Promise((resolve) => session.once('remoteSettings', resolve));
  const sent = await sendPieces(socket, request, (byte) => `\0\0\x01\0\0\0\0\0\x01${byte}`, responded.signal);
  stream.resume();
  if (!responded.signal.aborted) socket.write('\0\0\0\0\x01\0\0\0\x01', 'latin1');
  await closed;
  session.destroy();
  socket.destroy();
  return { received, pieces: sent };
}

function openSocket(port: number): Socket {
  return connect(port, '127.0.0.1')
    .setNoDelay()
    .on('error', () => undefined);
}

function closedSocket(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()));
}

/** A stream that reads and writes a socket, on which others may write, too. */
function besides(socket: Socket): Duplex {
  const duplex = new Duplex({
    read: () => socket.resume(),
    write: (chunk, _encoding, done) => void socket.write(chunk, () => done()),
  });
  socket.on('data', (part) => duplex.push(part) || socket.pause()).on('close', () => duplex.destroy());
  return duplex;
}

async function sendPieces(
  socket: Socket,
  { start = '', pieces, piecesAtOnce = 500 }: Pick<DribbledRequest, 'start' | 'pieces' | 'piecesAtOnce'>,
  piece: (byte: string) => string,
  responded: AbortSignal,
): Promise<number> {
  let sent = 0;
  while (!responded.aborted && sent < pieces) {
    let bytes = '';
    for (const end = Math.min(pieces, sent + piecesAtOnce); sent < end; sent++)
      bytes += piece(start.charAt(sent) || ' ');
    await new Promise((resolve) => socket.write(bytes, 'latin1', () => setImmediate(resolve)));
  }
  return sent;
}
