import type { IncomingHttpHeaders } from 'node:http';

/** A request to an address that somebody gave us. */
export interface OutboundRequest {
  url: string;
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The headers by lower-case names. The URL gives `host`; a request cannot set it. */
  headers?: Readonly<Record<string, string>>;
  /** The bytes that are sent, as they are. */
  body?: Uint8Array | string;
  /** From the call to the last byte, redirects included, in ms. */
  deadlineMs: number;
  /** The length of the body up to which it is read, as it was sent and as it is decompressed. Nothing more is read. */
  maxResponseBytes: number;
  /** A body that is longer is an error (`refuse`), or its start is the result (`cut`). */
  longResponse: 'refuse' | 'cut';
  /** Redirects of GET and HEAD that are followed. Beyond 0, one too many is an error; at 0 a redirect is the result. */
  maxRedirects: 0 | 1 | 2 | 3;
  /** Ends the request; its reason is the error. */
  signal?: AbortSignal;
}

/** The response to an outbound request. */
export interface OutboundResponse {
  status: number;
  headers: IncomingHttpHeaders;
  /** The decompressed body, or its start. */
  body: Buffer;
  /** False if the body is longer than what was read. */
  isComplete: boolean;
  /** The address that was dialled; after redirects, the last one. */
  address: string | undefined;
  durationMs: number;
}
