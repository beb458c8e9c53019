import { setTimeout } from 'node:timers/promises';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import { aborted, type Found, startWakefulLoop } from '@ticketing/runtime/wakeful-loop.ts';
import { type Database, isUnreachable } from '@ticketing/store/database.ts';
import type { Leased } from '@ticketing/store/lease.ts';
import { joinLeaseGroup } from '@ticketing/store/lease-group.ts';
import { type Bus, retryDelayMs } from '../bus/bus.ts';
import { isAnyWaiting, type Outbox, type Pending, rangeCount } from './outbox.ts';

/** What a relay sends from and to. */
export interface RelayOptions {
  /** The database of the outboxes: the leases are kept beside them. */
  database: Pick<Database, 'connection' | 'opened'>;
  outboxes: readonly Outbox[];
  bus: Pick<Bus, 'publish'>;
  log: Logger;
}

/** A relay at work. */
export interface Relay {
  /** Says that something was put into an outbox by this process. */
  wake(): void;
  /** Resolves when what was being sent is sent, and the leases are given back. */
  stop(): Promise<void>;
}

const maxDocuments = 500;
/** How often a relay looks for what other processes have put into an outbox: while there is something, and at least. */
const pollMs = { busy: 200, idle: 1_200 };
/** What is put in within this time after a round goes with the next one. */
const gatherMs = 150;

/**
 * Sends the events of outboxes to the bus, those of a document in the order of their versions, at least once; what was
 * acknowledged is taken out. The relays of all processes share ranges of ids; one whose lease has run out while it sends
 * makes duplicates, and nothing worse: it takes out only what it has sent.
 *
 * Away from the bus it backs off and tries again. A document whose events can not be sent, while those of others can, is
 * put aside for a time, and logged.
 *
 * Source: architecture.md section 4, Publish; guarantees.md section 1, E1 to E5.
 */
export function startRelay({ database, outboxes, bus, log }: RelayOptions): Relay {
  const owned = new Set<number>();
  const rounds = new Map<Outbox, Promise<number>>();

  const member = joinLeaseGroup<Leased>(database, {
    collection: 'relayLeases',
    group: 'relay',
    parts: Array.from({ length: rangeCount }, (_, range) => String(range)),
    initial: {},
    async work(range, _held, signal) {
      owned.add(Number(range));
      wake();
      await aborted(signal);
      owned.delete(Number(range));
      // Who has the range next must not be overtaken by what is still being sent.
      await Promise.allSettled(rounds.values());
    },
    onError: (error) => log.warn({ err: error }, 'the leases of the relay are not renewed'),
  });

  /** Sends a round from every outbox, if any has something to send. */
  async function sendAll(signal: AbortSignal): Promise<Found> {
    if (owned.size === 0 || !(await isAnyWaiting(outboxes))) return 'nothing';
    for (const outbox of outboxes) rounds.set(outbox, sendRound(outbox));
    const ended = await Promise.allSettled(rounds.values());
    const failed = ended.find((one) => one.status === 'rejected');
    if (failed) throw failed.reason;
    const counts = ended.map((one) => (one.status === 'fulfilled' ? one.value : 0));
    if (counts.includes(maxDocuments)) return 'more';
    if (counts.every((count) => count === 0)) return 'nothing';
    await setTimeout(gatherMs, undefined, { signal }).catch(() => undefined);
    return 'done';
  }

  /** Answers how many documents there were to send from. */
  async function sendRound(outbox: Outbox): Promise<number> {
    if (owned.size === 0) return 0;
    const pending = await outbox.pending([...owned], maxDocuments);
    if (pending.length === 0) return 0;
    const writable = pending.filter(({ unwritable }) => unwritable === undefined);
    for (const one of pending) if (one.unwritable) await putAside(outbox, one, one.unwritable);
    const sent = await publishAll(outbox, writable);
    if (sent.length > 0) await outbox.remove(sent);
    return pending.length;
  }

  /** Sends all at once, or, if the bus refuses that, one by one. Answers what was sent. */
  async function publishAll(outbox: Outbox, pending: readonly Pending[]): Promise<readonly Pending[]> {
    try {
      await bus.publish(
        outbox.topic,
        pending.flatMap(({ messages }) => messages),
      );
      return pending;
    } catch (error) {
      if (isPassing(error)) throw error;
    }
    const sent: Pending[] = [];
    for (const one of pending) {
      try {
        await bus.publish(outbox.topic, one.messages);
        sent.push(one);
      } catch (error) {
        if (isPassing(error)) {
          if (sent.length > 0) await outbox.remove(sent);
          throw error;
        }
        await putAside(outbox, one, error);
      }
    }
    return sent;
  }

  async function putAside(outbox: Outbox, pending: Pending, error: unknown): Promise<void> {
    log.error({ err: error, outbox: outbox.name, id: pending.id }, 'the events of a document can not be sent');
    await outbox.postpone(pending, error instanceof Error ? error.message : String(error));
  }

  const loop = startWakefulLoop({
    pollMs,
    run: sendAll,
    after: database.opened,
    onError(error, failures) {
      log.warn({ err: error }, 'events are not sent; they wait');
      return retryDelayMs(failures);
    },
  });
  const wake = () => loop.wake();
  return {
    wake,
    async stop() {
      await loop.stop();
      await member.stop();
    },
  };
}

/** Whether the bus or the store is away, so that it is no fault of what was to be sent. */
function isPassing(error: unknown): boolean {
  return (
    isUnreachable(error) ||
    (error instanceof DomainError && ['unavailable', 'deadline_exceeded', 'not_found'].includes(error.code))
  );
}
