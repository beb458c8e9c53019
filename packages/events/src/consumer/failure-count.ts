import { LRUCache } from 'lru-cache';
import type { IncomingMessage } from '../bus/bus.ts';
import { partitionName } from '../bus/partition.ts';

/** An event is dead-lettered at this failure. */
const maxFailures = 3;

/** How often messages have failed, and how often they have been late, since they were last handled. */
export interface FailureCount {
  /** Counts a failure of each message. Returns whether one of them has now failed too often. */
  addFailure(messages: readonly IncomingMessage[]): boolean;
  /**
   * Notes that a message was late. It counts only if `hasEvidence` says that the message, and not the handler as a
   * whole, is slow. Returns whether the message has now been late too often.
   */
  addLateness(message: IncomingMessage, hasEvidence: boolean): boolean;
  /**
   * Returns the highest number of times that one of the messages was late; 0 if one was late without evidence, -1 if
   * none was.
   */
  timesLate(messages: readonly IncomingMessage[]): number;
  reset(messages: readonly IncomingMessage[]): void;
}

/** Starts counting. The counts are in memory: a restart, or a move to another consumer, begins again at 0. */
export function failureCount(): FailureCount {
  // Bounded, because the counts are not reset for messages of a partition that another consumer has taken over. A cache
  // with `max` would have the memory of all its entries from the beginning.
  const bounds = { maxSize: 10_000, sizeCalculation: () => 1 };
  const failures = new LRUCache<string, number>(bounds);
  const lateness = new LRUCache<string, number>(bounds);

  function increase(counts: LRUCache<string, number>, message: IncomingMessage, by: number): number {
    const count = (counts.get(toId(message)) ?? 0) + by;
    counts.set(toId(message), count);
    return count;
  }

  return {
    addFailure: (messages) => Math.max(...messages.map((message) => increase(failures, message, 1))) >= maxFailures,
    addLateness: (message, hasEvidence) => increase(lateness, message, hasEvidence ? 1 : 0) >= maxFailures,
    timesLate: (messages) => Math.max(...messages.map((message) => lateness.get(toId(message)) ?? -1)),
    reset(messages) {
      for (const message of messages) {
        failures.delete(toId(message));
        lateness.delete(toId(message));
      }
    },
  };
}

function toId({ topic, partition, offset }: IncomingMessage): string {
  return `${partitionName(topic, partition)}/${offset}`;
}
