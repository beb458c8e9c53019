import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

/** A webhook that was received. */
export interface Received {
  /** The number of the receiver, from 0. */
  endpoint: number;
  ticketId: number;
  version: number;
  /** When the request began, as `monotonicMs` says. */
  at: number;
}

/** The receiver that does not respond from now on. The others send the responses that they have kept back. */
export interface ReceiverOrder {
  hanging: number | undefined;
}

/** Receivers of webhooks, in a separate process. */
export interface WebhookReceivers {
  /** The URL of each. They differ in their port, so that they are different hosts to the sender. */
  urls: readonly string[];
  /** The webhooks received since the last call of `forget`, by `receivedKey`; the first delivery of each. */
  received: ReadonlyMap<string, Received>;
  forget(): void;
  /** Makes one receiver, or none, read requests and not respond. */
  hang(endpoint: number | undefined): Promise<void>;
  /** Resolves when a condition is true. Errors: it is not within 5 minutes. */
  until(condition: () => boolean | Promise<boolean>, what: string): Promise<void>;
  stop(): void;
}

const maxWaitMs = 300_000;

/** A time that all processes of this machine share, in ms. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000;
}

/** The key of a received webhook. */
export function receivedKey({ endpoint, ticketId, version }: Omit<Received, 'at'>): string {
  return `${endpoint}/${ticketId}/${version}`;
}

/** Starts receivers that respond within a few ms. Errors: they did not start. */
export async function startReceivers(count: number): Promise<WebhookReceivers> {
  const child = fork(join(import.meta.dirname, 'webhook-receiver.ts'), [String(count)]);
  const exited = once(child, 'exit').then(() => {
    throw new Error('The receivers of webhooks have ended.');
  });
  exited.catch(() => undefined);
  const [{ ports }] = (await Promise.race([once(child, 'message'), exited])) as [{ ports: number[] }];
  const received = new Map<string, Received>();
  let carriedOut = Promise.withResolvers<void>();
  child.on('message', (message: { received: Received[]; isCarriedOut?: true }) => {
    if (message.isCarriedOut) carriedOut.resolve();
    for (const one of message.received) {
      const key = receivedKey(one);
      if (!received.has(key)) received.set(key, one);
    }
  });
  return {
    urls: ports.map((port) => `http://127.0.0.1:${port}/`),
    received,
    forget: () => received.clear(),
    async hang(hanging) {
      carriedOut = Promise.withResolvers();
      child.send({ hanging } satisfies ReceiverOrder);
      await Promise.race([carriedOut.promise, exited]);
    },
    async until(condition, what) {
      for (const deadline = performance.now() + maxWaitMs; !(await condition()); ) {
        if (performance.now() > deadline) throw new Error(`Not within ${maxWaitMs / 1000} s: ${what}.`);
        await Promise.race([setTimeout(20), exited]);
      }
    },
    stop: () => void child.kill(),
  };
}
