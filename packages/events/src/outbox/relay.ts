import { setTimeout } from 'node:timers/promises';
import type { Logger } from '@ticketing/runtime/logger.ts';
import { aborted, startWakefulLoop, type WorkFound } from '@ticketing/runtime/wakeful-loop.ts';
import type { Database } from '@ticketing/store/connection/database.ts';
import { isTransient } from '@ticketing/store/document/transient-error.ts';
import type { Leased } from '@ticketing/store/leases/lease.ts';
import { joinLeaseGroup, type LeaseGroupTimes } from '@ticketing/store/leases/lease-group.ts';
import { type Bus, retryDelayMs } from '../bus/bus.ts';
import { anyHasUnsentEvents, type Outbox, type Pending, rangeCount } from './outbox.ts';

/** The dependencies and the pauses of a relay. */
export interface RelayOptions {
  /** The database of the outboxes. The leases of the relays are kept there too. */
  database: Pick<Database, 'connection' | 'opened'>;
  outboxes: readonly Outbox[];
  bus: Pick<Bus, 'publish'>;
  log: Logger;
  /**
   * The pause between two polls for events of other processes: after a poll that found some, and after one that did
   * not.
   */
  pollMs?: { busy: number; idle: number };
  /** The pause after a round, in which events collect, so that the next round sends them together. */
  gatherMs?: number;
  leaseTimes?: LeaseGroupTimes;
}

/** A running relay. */
export interface Relay {
  /** Wakes the relay. Called when this process has added an event to an outbox. */
  wake(): void;
  /** Resolves when the events in flight have been sent and the leases are released. */
  stop(): Promise<void>;
}

const maxDocuments = 500;
const defaultPollMs = { busy: 200, idle: 1_500 };
const defaultGatherMs = 150;
const waitingMessage = 'events cannot be sent and wait in the outbox';

/**
 * Sends the events of outboxes to the bus at least once, those of a document in the order of their versions, and
 * removes what the bus has acknowledged. The relays of all processes share the documents by ranges of ids. A relay
 * whose lease expires while it sends can only cause duplicates, because it removes only what it has sent.
 *
 * While the bus is unavailable, the relay backs off and tries again. If only the events of some documents cannot be
 * sent, these documents are logged and postponed.
 *
 * Source: docs/reference/architecture.md, Publish; docs/reference/guarantees.md, Events.
 */
export function startRelay(options: RelayOptions): Relay {
  const { database, outboxes, bus, log, pollMs = defaultPollMs, gatherMs = defaultGatherMs } = options;
  const owned = new Set<number>();
  const rounds = new Map<Outbox, Promise<number>>();
  const failing = new Map<Outbox, { failures: number; until: number }>();
  const remainingPauseMs = (outbox: Outbox) => (failing.get(outbox)?.until ?? 0) - performance.now();

  const member = joinLeaseGroup<Leased>(database, {
    collection: 'relayLeases',
    group: 'relay',
    parts: Array.from({ length: rangeCount }, (_, range) => String(range)),
    initial: {},
    async work(range, _document, signal) {
      owned.add(Number(range));
      wake();
      await aborted(signal);
      owned.delete(Number(range));
      // The next owner of the range must not send newer events before these.
      await Promise.allSettled(rounds.values());
    },
    onError: (error) => log.warn({ err: error }, 'the leases of the relay cannot be renewed'),
    times: options.leaseTimes,
  });

  /** Sends a round from every outbox that is not paused after a failure, if any has something to send. */
  async function sendAll(signal: AbortSignal): Promise<WorkFound> {
    const ready = outboxes.filter((outbox) => remainingPauseMs(outbox) <= 0);
    if (ready.length === 0) {
      await setTimeout(Math.min(...outboxes.map(remainingPauseMs)), undefined, { signal }).catch(() => undefined);
      return 'more';
    }
    if (owned.size === 0 || !(await anyHasUnsentEvents(ready))) return 'nothing';
    for (const outbox of ready) rounds.set(outbox, tryRound(outbox));
    const counts = await Promise.all(ready.map((outbox) => rounds.get(outbox) ?? 0));
    if (counts.includes(maxDocuments)) return 'more';
    if (counts.every((count) => count === 0)) return 'nothing';
    await setTimeout(gatherMs, undefined, { signal }).catch(() => undefined);
    return 'done';
  }

  /** Sends a round. A failure pauses this outbox only. */
  async function tryRound(outbox: Outbox): Promise<number> {
    try {
      const count = await sendRound(outbox);
      failing.delete(outbox);
      return count;
    } catch (error) {
      if (!failing.has(outbox)) log.warn({ err: error, outbox: outbox.name }, waitingMessage);
      const failures = (failing.get(outbox)?.failures ?? -1) + 1;
      failing.set(outbox, { failures, until: performance.now() + retryDelayMs(failures) });
      return 0;
    }
  }

  /** Sends the oldest events. Returns how many documents had some. */
  async function sendRound(outbox: Outbox): Promise<number> {
    if (owned.size === 0) return 0;
    const pending = await outbox.pending([...owned], maxDocuments);
    if (pending.length === 0) return 0;
    const writable = pending.filter(({ unwritable }) => unwritable === undefined);
    for (const one of pending) if (one.unwritable) await postpone(outbox, one, one.unwritable);
    const sent = await publishAll(outbox, writable);
    if (sent.length > 0) await outbox.remove(sent);
    return pending.length;
  }

  /**
   * Sends the events of all documents in one call or, if the bus refuses it, document by document. Returns those sent.
   */
  async function publishAll(outbox: Outbox, pending: readonly Pending[]): Promise<readonly Pending[]> {
    try {
      await bus.publish(
        outbox.topic,
        pending.flatMap(({ messages }) => messages),
      );
      return pending;
    } catch (error) {
      if (isTransient(error)) throw error;
    }
    const sent: Pending[] = [];
    for (const one of pending) {
      try {
        await bus.publish(outbox.topic, one.messages);
        sent.push(one);
      } catch (error) {
        if (isTransient(error)) {
          if (sent.length > 0) await outbox.remove(sent);
          throw error;
        }
        await postpone(outbox, one, error);
      }
    }
    return sent;
  }

  async function postpone(outbox: Outbox, pending: Pending, error: unknown): Promise<void> {
    log.error({ err: error, outbox: outbox.name, id: pending.id }, 'the events of a document cannot be sent');
    await outbox.postpone(pending, error instanceof Error ? error.message : String(error));
  }

  const loop = startWakefulLoop({
    pollMs,
    run: sendAll,
    after: database.opened,
    onError(error, failures) {
      log.warn({ err: error }, waitingMessage);
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
