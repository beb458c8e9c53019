import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { addressKey } from '../admission/address-key.ts';
import type { ServerLimits } from '../config/server-limits.ts';
import { makeRoomWhenFull } from './limit-connections.ts';

const maxConnectionAgeMs = 300_000;

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
 * `settingsMs`, and those without a call in flight make room when the listener is full.
 */
export function limitSessions(
  app: FastifyInstance,
  { goAwayMs, settingsMs }: ServerLimits,
  { setTimeout, clearTimeout }: SessionTimers = globalThis,
): void {
  const sessions = new Set<{ address: string; calls: number; isEnding: boolean; end: () => void }>();
  let isClosing = false;
  app.server.on('session', (session: ServerHttp2Session) => {
    // Returns the socket itself. The object `session.socket` can only end the session, whose connection then stays
    // until the client has read everything.
    const socket = session.socket.once('close', () => {
      clearTimeout(timer);
      clearTimeout(silent);
      sessions.delete(state);
    });
    const end = () => {
      if (state.isEnding) return;
      state.isEnding = true;
      session.close();
      setTimeout(() => socket.destroy(), goAwayMs).unref();
    };
    const state = { address: addressKey(socket.remoteAddress), calls: 0, isEnding: false, end };
    sessions.add(state);
    const timer = setTimeout(end, maxConnectionAgeMs * (0.9 + Math.random() * 0.2)).unref();
    const silent = setTimeout(end, settingsMs).unref();
    session.once('remoteSettings', () => clearTimeout(silent));
    session.on('stream', (stream) => {
      state.calls += 1;
      stream.once('close', () => {
        state.calls -= 1;
      });
    });
    if (isClosing) end();
  });
  const idleSessions = () => [...sessions].filter(({ calls, isEnding }) => calls === 0 && !isEnding);
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
