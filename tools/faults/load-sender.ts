import { setTimeout as sleep } from 'node:timers/promises';
import { HttpTransport } from '../import/http-transport.ts';
import { isObject, type JsonObject, parseJson } from '../import/json.ts';
import type { Outcome } from './message-ledger.ts';
import type { Random } from './random.ts';

/** Undefined if no response arrived: whether the request had an effect is unknown. */
export type LoadResponse = { status: number; body: JsonObject; sentAt: number } | undefined;

/** Sends requests to a service, each once, and counts the responses. */
export interface LoadSender {
  send(random: Random, method: string, path: string, content?: unknown): Promise<LoadResponse>;
  close(): void;
}

/** The counts of all senders of a load together. */
export interface SenderCounts {
  /** How many responses had each status; 0 stands for no response. */
  statusCounts: Map<number, number>;
  /** The first responses that no fault explains. */
  unexpected: string[];
  /** Called when a change is acknowledged; `sentAt` is a time of `performance.now()`. */
  onAcknowledged(sentAt: number): void;
}

interface SenderOptions {
  url: URL;
  token: string;
  connections: number;
  counts: SenderCounts;
}

const timeoutMs = 15_000;
/** The longest pause after a request that failed. */
const failurePauseMs = 100;
const maxUnexpected = 5;
const retryableStatuses = new Set([429, 502, 503, 504]);

/** Opens connections to a service. */
export function openSender({ url, token, connections, counts }: SenderOptions): LoadSender {
  const transport = new HttpTransport(url, token, connections, timeoutMs);
  return {
    async send(random, method, path, content) {
      const sentAt = performance.now();
      const body = content === undefined ? {} : { body: JSON.stringify(content) };
      const response = await transport.send({ method, path, ...body, wantsBody: true }).catch(() => undefined);
      const status = response?.status ?? 0;
      counts.statusCounts.set(status, (counts.statusCounts.get(status) ?? 0) + 1);
      if (response === undefined || retryableStatuses.has(status)) {
        await sleep(random.next() * failurePauseMs);
        if (response === undefined) return undefined;
      }
      const parsed = parseJson(response.text);
      const read = { status, body: isObject(parsed) ? parsed : {}, sentAt };
      if (isSuccess(read)) counts.onAcknowledged(sentAt);
      else noteUnexpected(counts.unexpected, `${method} ${path.replaceAll(/\d+/g, '…')}`, read);
      return read;
    },
    close: () => transport.close(),
  };
}

/**
 * Notes a response that no fault explains. 404, 409 and 412 are expected: another writer deleted or changed the ticket
 * first.
 */
function noteUnexpected(unexpected: string[], request: string, { status, body }: NonNullable<LoadResponse>): void {
  if (retryableStatuses.has(status) || [404, 409, 412].includes(status) || unexpected.length >= maxUnexpected) return;
  unexpected.push(`${request}: ${status} ${JSON.stringify(body).slice(0, 300)}`);
}

/** Whether a response says that the request was carried out. */
export function isSuccess(response: LoadResponse): boolean {
  return response !== undefined && response.status >= 200 && response.status < 300;
}

/**
 * Decides the outcome of a request from its response. An error of the client is a refusal, and so is a template that
 * cannot be rendered at the moment; any other error of the system may follow the change.
 */
export function toOutcome(response: LoadResponse): Outcome {
  if (isSuccess(response)) return 'acknowledged';
  if (response?.body.code === 'templates_unavailable') return 'refused';
  return response !== undefined && [400, 404, 409, 412].includes(response.status) && !mayFollowChange(response)
    ? 'refused'
    : 'unknown';
}

/** A ticket that is deleted after a message was added to it makes the response 404; a conflict leaves open what was written. */
function mayFollowChange({ status, body }: NonNullable<LoadResponse>): boolean {
  return status === 404 || body.code === 'concurrent_change';
}
