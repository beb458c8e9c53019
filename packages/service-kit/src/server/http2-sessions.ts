import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { addressKey } from '../admission/address-key.ts';
import type { ServerLimits } from '../config/server-limits.ts';
import { makeRoomWhenFull } from './limit-connections.ts';

const maxConnectionAgeMs = 300_000;

/** How long a connection without calls may stay open when it makes room, if its peer does not close it. */
const idleEndMs = 1_000;

/** The timers of sessions; tests advance them. */
export interface SessionTimers {
  setTimeout(run: () => void, ms: number): NodeJS.Timeout;
  clearTimeout(timer: NodeJS.Timeout): void;
}

/**
 * Ends HTTP/2 connections of a server after 5 minutes, give or take 10 %, and when the server closes. Clients then resolve
 * its addresses again, so that a new replica gets its share of the calls. The calls in flight on a connection that is to
 * end have `goAwayMs` to finish.
 *
 * Idle connections end no earlier: each costs little, and its end a handshake. A client learns of the end at once, and
 * connects again for its next call.
 *
 * Connecting needs no credential: a connection that does not begin with settings, as every client does, ends after
 * `settingsMs`, and connections that wait for nothing but their clients make room when the listener is full.
 */
export function limitSessions(
  app: FastifyInstance,
  { goAwayMs, settingsMs }: ServerLimits,
  { setTimeout, clearTimeout }: SessionTimers = globalThis,
): void {
  const sessions = new Set<Session>();
  let isClosing = false;
  app.server.on('session', (session: ServerHttp2Session) => {
    // Returns the socket itself. The object `session.socket` can only end the session, whose connection then stays
    // until the client has read everything.
    const socket = session.socket.once('close', () => {
      clearTimeout(timer);
      clearTimeout(silent);
      sessions.delete(state);
    });
    const end = (waitMs = goAwayMs) => {
      if (state.isEnding) return;
      state.isEnding = true;
      session.close();
      setTimeout(() => socket.destroy(), waitMs).unref();
    };
    const address = addressKey(socket.remoteAddress);
    const state: Session = { address, streams: new Set(), isEnding: false, end };
    sessions.add(state);
    const timer = setTimeout(() => end(), maxConnectionAgeMs * (0.9 + Math.random() * 0.2)).unref();
    const silent = setTimeout(() => end(), settingsMs).unref();
    session.once('remoteSettings', () => clearTimeout(silent));
    session.on('stream', (stream) => {
      state.streams.add(stream);
      stream.once('close', () => state.streams.delete(stream));
    });
    if (isClosing) end();
  });
  const idleSessions = () =>
    [...sessions].filter(waitsForClient).map(({ address, streams, end }) => ({
      address,
      end: () => end(streams.size === 0 ? idleEndMs : goAwayMs),
    }));
  const countsOfAddresses = () => {
    const byAddress = Map.groupBy(sessions, ({ address }) => address);
    return new Map([...byAddress].map(([address, own]) => [address, own.length]));
  };
  makeRoomWhenFull(app.server, idleSessions, countsOfAddresses);
  app.addHook('preClose', async () => {
    isClosing = true;
    for (const { end } of sessions) end();
  });
}

/** An HTTP/2 connection with its calls in flight. */
interface Session {
  address: string;
  streams: Set<ServerHttp2Stream>;
  isEnding: boolean;
  /** Lets the calls in flight finish for a time, then closes the connection. */
  end(waitMs?: number): void;
}

/**
 * Whether a connection has no call, or only calls whose responses are complete. A client whose window is 0 never takes a
 * response, and needs no credential for one that refuses its call.
 */
function waitsForClient({ streams, isEnding }: Session): boolean {
  return !isEnding && [...streams].every(({ writableEnded }) => writableEnded);
}

/**
 * Ends each HTTP/2 stream of a server when its response is complete, even if its body is still arriving; Node would leave
 * it open for as long as the client likes. To be called before other hooks, which may respond.
 */
export function endStreamsAfterResponses(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ raw }) => {
    const stream = findStream(raw);
    if (!stream || stream.endAfterHeaders) return;
    // Node ends every response with trailers, which the listener of the response sends first.
    stream.once('wantTrailers', () => setImmediate(() => !raw.readableEnded && stream.close()));
  });
}

/** Ends the stream of an HTTP/2 request. */
export function endStream(raw: FastifyRequest['raw']): void {
  findStream(raw)?.close();
}

function findStream(raw: FastifyRequest['raw']): ServerHttp2Stream | undefined {
  return 'stream' in raw ? (raw.stream as ServerHttp2Stream) : undefined;
}
