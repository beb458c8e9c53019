import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import { ContentType } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { hasHarmlessNames, isPortableJson } from '@ticketing/rest/codec/open-json.ts';
import { countValues } from '../../intent/rules/data.ts';

/** The result of an attempt: the action was done, was not done, or neither is known. */
export interface ActionResult {
  kind: 'success' | 'failure' | 'unknown';
  responseCode: string;
  /** A message for people. */
  messageLocalized: string | null;
  /** A message for the customer. */
  message: string | null;
  /** The format of that message. */
  messageType: ContentType;
  internalData: JsonObject;
}

/** The parts of a result without a message. */
export const noMessage = { messageLocalized: null, message: null, messageType: ContentType.TEXT };

/** The response of a backend system. */
export interface BackendResponse {
  status: number;
  body: Buffer;
  isComplete: boolean;
}

/** The most bytes of a response that are read. */
export const maxResponseBytes = 64 * 1024;
const maxKeptBytes = 16 * 1024;
const maxKeptDepth = 16;
const maxKeptValues = 1000;
const maxCodeLength = 100;
const maxTextLength = 10_000;
/** The request was refused because of itself, or is to be sent elsewhere: nothing was done. */
const isRefusal = (status: number) => (status >= 400 && status < 500) || status === 307 || status === 308;

/**
 * Reads the result of the action from the response of a backend system. `mapping` has JSON Pointers to its parts.
 *
 * A definite failure is a status of 4xx, 307 or 308, or a mapped `success` of false. Any other status than 2xx, and a
 * mapped `success` that is neither true nor false, leaves open what has happened.
 * Source: docs/reference/api.md, Execution of an intent.
 */
export function readBackendResponse(
  { status, body, isComplete }: BackendResponse,
  mapping: Readonly<Record<string, string>>,
): ActionResult {
  const json = isComplete ? parse(body) : undefined;
  const part = (name: string) => (mapping[name] === undefined ? undefined : valueAt(json, mapping[name]));
  const kind = toKind(status, mapping.success === undefined ? true : part('success'));
  const code = toText(part('responseCode'), maxCodeLength);
  return {
    kind,
    responseCode: kind === 'unknown' ? 'unknown' : (code ?? (kind === 'success' ? 'ok' : `http_${status}`)),
    messageLocalized: toText(part('messageLocalized'), maxTextLength),
    message: toText(part('message'), maxTextLength),
    messageType: part('messageType') === 'html' ? ContentType.HTML : ContentType.TEXT,
    internalData: { status, ...keptBody(body, json) },
  };
}

/**
 * Returns the result of a request that has no response. `wasSent` says whether a part of it may have reached the backend
 * system.
 */
export function failedRequest(reason: string, wasSent: boolean): ActionResult {
  return {
    kind: wasSent ? 'unknown' : 'failure',
    responseCode: wasSent ? 'unknown' : reason,
    ...noMessage,
    internalData: { error: reason },
  };
}

function toKind(status: number, success: unknown): ActionResult['kind'] {
  if (isRefusal(status)) return 'failure';
  if (status < 200 || status >= 300 || typeof success !== 'boolean') return 'unknown';
  return success ? 'success' : 'failure';
}

function keptBody(body: Buffer, json: JsonValue | undefined): JsonObject {
  if (json !== undefined && body.length <= maxKeptBytes && isKeepable(json)) return { body: json };
  if (body.length === 0) return {};
  // A character that the limit has cut in two is left out.
  return { text: new TextDecoder().decode(body.subarray(0, maxKeptBytes), { stream: true }) };
}

/**
 * Whether the tickets service accepts a value. A value that it refuses would block every later change of the ticket's
 * intents.
 */
function isKeepable(json: JsonValue): boolean {
  return isPortableJson(json) && hasHarmlessNames(json) && countValues(json) <= maxKeptValues;
}

function parse(body: Buffer): JsonValue | undefined {
  try {
    const value = JSON.parse(body.toString('utf8')) as JsonValue;
    return isDeeperThan(value, maxKeptDepth) ? undefined : value;
  } catch {
    return undefined;
  }
}

function isDeeperThan(value: JsonValue, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth === 0 || Object.values(value).some((part) => isDeeperThan(part as JsonValue, depth - 1));
}

/** Returns the value at a JSON Pointer (RFC 6901). */
function valueAt(json: JsonValue | undefined, pointer: string): JsonValue | undefined {
  let value = json;
  for (const escaped of pointer.split('/').slice(1)) {
    const name = escaped.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    if (Array.isArray(value) && name === 'length') return undefined;
    value = (value as Record<string, JsonValue>)[name];
  }
  return value;
}

function toText(value: JsonValue | undefined, maxLength: number): string | null {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return null;
  const text = String(value).replaceAll('\0', '').trim().slice(0, maxLength);
  return text === '' ? null : text.toWellFormed();
}
