/** The limits by which a server protects its process. Tests replace some of them. */
export interface ServerLimits {
  /** How long the TLS handshake of a connection may take, in ms. */
  handshakeMs: number;
  /** How long the body of a request may take to arrive, from its headers on, in ms. */
  bodyMs: number;
  /** How long a connection of HTTP/2 may be open before the settings with which a client begins, in ms. */
  settingsMs: number;
  /** How long a connection that is to end may stay open for the calls in flight, in ms. */
  goAwayMs: number;
  /**
   * Requests in flight from one address that need no credential: of each method of gRPC health and reflection, of probes,
   * and of public documents.
   */
  anonymousCalls: number;
  /** Handlers of one caller that run at the same time. */
  handlersOfPerson: number;
  handlersOfMachine: number;
  /** The endless streams that one caller follows at the same time, and all callers of a process together. */
  followersOfCaller: number;
  followers: number;
}

/** How many connections a listener has at once. */
export interface ConnectionLimits {
  /** The connections of all clients together. */
  total: number;
  /** The connections of one client address; 0 for no limit. */
  ofAddress: number;
}

/** Calls in flight on one HTTP/2 connection. */
export const maxStreams = 100;

/** Requests in flight on one HTTP/1.1 connection. */
export const maxPipelined = 64;

export const defaultServerLimits: ServerLimits = {
  handshakeMs: 10_000,
  bodyMs: 30_000,
  settingsMs: 30_000,
  goAwayMs: 10_000,
  anonymousCalls: 20,
  handlersOfPerson: 32,
  handlersOfMachine: 512,
  followersOfCaller: 10,
  followers: 1000,
};
