import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { namesEtag } from './etag.ts';

/** A document that is the same for every client: all responses share its bytes. */
export interface PublicDocument {
  bytes: Buffer;
  type: string;
  /** A strong entity tag, made from the bytes. */
  etag: string;
}

/** Makes a document of a media type. */
export function publicDocument(content: string | Buffer, type: string): PublicDocument {
  const bytes = Buffer.from(content);
  return { bytes, type, etag: `"${createHash('sha256').update(bytes).digest('base64url')}"` };
}

/** Makes a JSON document. */
export function publicJson(value: unknown): PublicDocument {
  return publicDocument(JSON.stringify(value), 'application/json; charset=utf-8');
}

/** Sends a document, or 304 to a client that has it already. */
export function sendDocument(reply: FastifyReply, { bytes, type, etag }: PublicDocument): FastifyReply {
  reply.header('etag', etag).header('cache-control', 'no-cache');
  if (namesEtag(reply.request.headers['if-none-match'], etag)) return reply.code(304).send();
  return reply.type(type).send(bytes);
}
