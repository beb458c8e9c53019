import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** A listener that speaks only the beginning of the Kafka protocol: it accepts any SASL response, and then hangs up. */
export interface SaslBroker {
  address: string;
  /** The SASL responses of clients; OAUTHBEARER sends text. */
  responses: string[];
  stop(): void;
}

const apiVersions = 18;
const saslHandshake = 17;
const saslAuthenticate = 36;

/** Starts a broker of which a test needs only the authentication. */
export async function startSaslBroker(): Promise<SaslBroker> {
  const responses: string[] = [];
  const server = createServer((socket) => serve(socket, responses)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    responses,
    stop: () => void server.close(),
  };
}

function serve(socket: Socket, responses: string[]): void {
  let received = Buffer.alloc(0);
  socket.on('error', () => undefined);
  socket.on('data', (piece: Buffer) => {
    received = Buffer.concat([received, piece]);
    while (received.length >= 4 && received.length >= 4 + received.readInt32BE(0)) {
      const end = 4 + received.readInt32BE(0);
      respond(socket, received.subarray(4, end), responses);
      received = received.subarray(end);
    }
  });
}

/** A request begins with its kind, the version, an id that the response repeats, and the name of the client. */
function respond(socket: Socket, request: Buffer, responses: string[]): void {
  const kind = request.readInt16BE(0);
  const correlationId = request.subarray(4, 8);
  const body = request.subarray(10 + request.readInt16BE(8));
  if (kind === apiVersions) send(socket, correlationId, int16(0), supportedVersions(), int32(0));
  else if (kind === saslHandshake) send(socket, correlationId, int16(0), int32(1), text('OAUTHBEARER'));
  else {
    if (kind === saslAuthenticate) responses.push(body.subarray(4).toString());
    socket.destroy();
  }
}

function supportedVersions(): Buffer {
  const supported = [apiVersions, saslHandshake, saslAuthenticate].map((kind) =>
    Buffer.concat([int16(kind), int16(0), int16(1)]),
  );
  return Buffer.concat([int32(supported.length), ...supported]);
}

function send(socket: Socket, ...parts: Buffer[]): void {
  const message = Buffer.concat(parts);
  socket.write(Buffer.concat([int32(message.length), message]));
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function text(value: string): Buffer {
  return Buffer.concat([int16(value.length), Buffer.from(value)]);
}
