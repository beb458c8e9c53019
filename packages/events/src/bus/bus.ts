import type { Topic } from '@ticketing/contracts/topics.ts';
import { backOffMs, withJitter } from '@ticketing/runtime/back-off.ts';

/** A message on its way to a topic. */
export interface OutgoingMessage {
  /** Messages of one key keep their order. */
  key: string;
  value: Uint8Array;
  headers: Readonly<Record<string, string>>;
}

/** A message as a consumer group receives it. */
export interface IncomingMessage extends OutgoingMessage {
  topic: string;
  partition: number;
  /**
   * The position of the message in its partition: a whole number, in digits, that increases from message to message.
   */
  offset: string;
}

/** The bus on which services publish their events. */
export interface Bus {
  /** Makes the topics that are missing. Errors: bus_unavailable. */
  setUp(topics: readonly Topic[]): Promise<void>;
  /**
   * Resolves when all messages are stored. Messages of one key keep their order. A failed call may have stored some.
   *
   * Errors: bus_unavailable; unknown_topic, which is transient too; message_refused.
   */
  publish(topic: string, messages: readonly OutgoingMessage[]): Promise<void>;
  /** Joins a consumer group; the partitions of its topics are shared among all members. */
  subscribe(subscription: Subscription): Promise<RunningSubscription>;
  /** Returns how many messages of topics a group has not acknowledged yet. */
  lag(group: string, topics: readonly string[]): Promise<number>;
  /**
   * Returns when the oldest message of topics that a group has not acknowledged yet was published; undefined if there
   * is none. With Kafka it may be a second too early, or a tenth of its age.
   *
   * Units: Unix ms.
   */
  oldestPending(group: string, topics: readonly string[]): Promise<number | undefined>;
  /** Rejects if the bus does not respond. */
  check(): Promise<void>;
  /** Stops all subscriptions and disconnects. */
  close(): Promise<void>;
}

/** The topics that a consumer group reads, and its handler. */
export interface Subscription {
  group: string;
  topics: readonly string[];
  /**
   * Handles messages of one partition, in their order. Messages that it has not acknowledged when it returns or throws
   * are delivered again; if it threw, after a delay. One process never calls it for the same partition concurrently.
   */
  handle(messages: readonly IncomingMessage[], delivery: Delivery): Promise<void>;
  /** Called with each error of `handle` or of the bus; the messages will be delivered again. */
  onError(error: unknown): void;
}

/** How a handler acknowledges the messages that it was given. */
export interface Delivery {
  /** Marks a message, and all before it in its partition, as handled. */
  acknowledge(message: IncomingMessage): void;
  /** Aborted when the partition is assigned to another member, or the subscription stops. */
  signal: AbortSignal;
}

/** A running membership of a consumer group. */
export interface RunningSubscription {
  /**
   * Returns how many messages of the partitions assigned to this member are not acknowledged yet; undefined while it has not
   * joined the group.
   */
  lag(): Promise<number | undefined>;
  /** Resolves when no message is being handled any more and all acknowledgements are stored. */
  stop(): Promise<void>;
}

/**
 * Returns how long to wait before the next attempt, in ms: twice as long after each failure, up to 10 s, with some
 * jitter.
 */
export function retryDelayMs(failures: number): number {
  return withJitter(backOffMs(failures, { firstMs: 100, longestMs: 10_000 }));
}
