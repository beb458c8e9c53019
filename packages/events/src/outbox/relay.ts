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
  const { database, outboxes, bus, log, pollMs = defaultPollMs, gatherMs = defaultGatherMs, leaseTimes } = options;
  const owned = new Set<number>();
  const senders = outboxes.map((outbox) => new OutboxSender(outbox, owned, { bus, log }));
  const loop = startWakefulLoop({
    pollMs,
    run: (signal) => (owned.size === 0 ? Promise.resolve('nothing') : sendAll(senders, gatherMs, signal)),
    after: database.opened,
    onError(error, failures) {
      log.warn({ err: error }, waitingMessage);
      return retryDelayMs(failures);
    },
  });
  const member = joinLeaseGroup<Leased>(database, {
    collection: 'relayLeases',
    group: 'relay',
    parts: Array.from({ length: rangeCount }, (_, range) => String(range)),
    initial: {},
    async work(range, _document, signal) {
      owned.add(Number(range));
      loop.wake();
      await aborted(signal);
      owned.delete(Number(range));
      // The next owner of the range must not send newer events before these.
      await Promise.all(senders.map((sender) => sender.round));
    },
    onError: (error) => log.warn({ err: error }, 'the leases of the relay cannot be renewed'),
    times: leaseTimes,
  });
  return {
    wake: () => loop.wake(),
    async stop() {
      await loop.stop();
      await member.stop();
    },
  };
}

/** Sends a round from every outbox that is not paused after a failure, if any has something to send. */
async function sendAll(senders: readonly OutboxSender[], gatherMs: number, signal: AbortSignal): Promise<WorkFound> {
  const pause = (ms: number) => setTimeout(ms, undefined, { signal }).catch(() => undefined);
  const ready = senders.filter(({ pauseMs }) => pauseMs <= 0);
  if (ready.length === 0) {
    await pause(Math.min(...senders.map(({ pauseMs }) => pauseMs)));
    return 'more';
  }
  if (!(await anyHasUnsentEvents(ready.map(({ outbox }) => outbox)))) return 'nothing';
  const counts = await Promise.all(ready.map((sender) => sender.startRound()));
  if (counts.includes(maxDocuments)) return 'more';
  if (counts.every((count) => count === 0)) return 'nothing';
  await pause(gatherMs);
  return 'done';
}

/** Sends the events of one outbox, round by round. It is sending, idle, or paused after a failure. */
class OutboxSender {
  readonly outbox: Outbox;
  readonly #owned: ReadonlySet<number>;
  readonly #bus: RelayOptions['bus'];
  readonly #log: Logger;
  #failures = 0;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #round: Promise<number> = Promise.resolve(0);

  /** `owned` are the ranges of ids whose events this process may send. */
  constructor(outbox: Outbox, owned: ReadonlySet<number>, { bus, log }: Pick<RelayOptions, 'bus' | 'log'>) {
    this.outbox = outbox;
    this.#owned = owned;
    this.#bus = bus;
    this.#log = log;
  }

  /** How long the pause after the last failure still is; 0 or less if there is none. */
  get pauseMs(): number {
    return this.#pausedUntil - performance.now();
  }

  /** Resolves when the current round has ended. It never rejects. */
  get round(): Promise<number> {
    return this.#round;
  }

  /** Sends the oldest events. Returns how many documents had some. A failure pauses this outbox only. */
  startRound(): Promise<number> {
    this.#round = this.#send().then(
      (count) => {
        this.#failures = 0;
        return count;
      },
      (error: unknown) => {
        if (this.#failures === 0) this.#log.warn({ err: error, outbox: this.outbox.name }, waitingMessage);
        this.#pausedUntil = performance.now() + retryDelayMs(this.#failures);
        this.#failures += 1;
        return 0;
      },
    );
    return this.#round;
  }

  async #send(): Promise<number> {
    if (this.#owned.size === 0) return 0;
    const pending = await this.outbox.pending([...this.#owned], maxDocuments);
    if (pending.length === 0) return 0;
    const writable = pending.filter(({ unwritable }) => unwritable === undefined);
    for (const one of pending) if (one.unwritable) await this.#postpone(one, one.unwritable);
    const sent = await this.#publishAll(writable);
    if (sent.length > 0) await this.outbox.remove(sent);
    return pending.length;
  }

  /**
   * Sends the events of all documents in one call or, if the bus refuses it, document by document. Returns those sent.
   */
  async #publishAll(pending: readonly Pending[]): Promise<readonly Pending[]> {
    try {
      await this.#publish(pending);
      return pending;
    } catch (error) {
      if (isTransient(error)) throw error;
    }
    const sent: Pending[] = [];
    for (const one of pending) {
      try {
        await this.#publish([one]);
        sent.push(one);
      } catch (error) {
        if (isTransient(error)) {
          if (sent.length > 0) await this.outbox.remove(sent);
          throw error;
        }
        await this.#postpone(one, error);
      }
    }
    return sent;
  }

  #publish(pending: readonly Pending[]): Promise<void> {
    return this.#bus.publish(
      this.outbox.topic,
      pending.flatMap(({ messages }) => messages),
    );
  }

  async #postpone(pending: Pending, error: unknown): Promise<void> {
    const { id } = pending;
    this.#log.error({ err: error, outbox: this.outbox.name, id }, 'the events of a document cannot be sent');
    await this.outbox.postpone(pending, error instanceof Error ? error.message : String(error));
  }
}
