import type { Topic } from '@ticketing/contracts/topics.ts';

/** A message on its way to a topic. */
export interface OutgoingMessage {
  /** Messages of one key keep their order. */
  key: string;
  value: Uint8Array;
  headers: Readonly<Record<string, string>>;
}

/** A message as a group gets it. */
export interface IncomingMessage extends OutgoingMessage {
  topic: string;
  partition: number;
  /** Where it stands in its partition; a number in digits that rises from message to message. */
  offset: string;
}

/** The bus that services tell each other about changes on. */
export interface Bus {
  /** Makes the topics that are missing. Errors: bus_unavailable. */
  setUp(topics: readonly Topic[]): Promise<void>;
  /**
   * Resolves when all messages are kept. Those of one key keep their order; a call that fails may have kept some.
   *
   * Errors: bus_unavailable; unknown_topic.
   */
  publish(topic: string, messages: readonly OutgoingMessage[]): Promise<void>;
  /** Takes part in a group: the partitions of its topics are shared among all that do. */
  subscribe(subscription: Subscription): Promise<RunningSubscription>;
  /** How many messages of topics a group has not acknowledged yet. */
  lag(group: string, topics: readonly string[]): Promise<number>;
  /** Rejects if the bus does not answer. */
  check(): Promise<void>;
  /** Stops all subscriptions, and lets go of the bus. */
  close(): Promise<void>;
}

/** What a group does with the messages of its topics. */
export interface Subscription {
  group: string;
  topics: readonly string[];
  /**
   * Handles messages of one partition, in their order. Those that are not acknowledged when it returns or throws come
   * again, after a moment if it threw. It is never called for one partition twice at a time by one process.
   */
  handle(messages: readonly IncomingMessage[], delivery: Delivery): Promise<void>;
  /** Called with an error of `handle`, or of the bus, that will be tried again. */
  onError(error: unknown): void;
}

/** How the handling of messages is told about. */
export interface Delivery {
  /** Says that a message, and all before it in its partition, need not come again. */
  acknowledge(message: IncomingMessage): void;
  /** Aborted when the partition goes to another, or the subscription stops. */
  signal: AbortSignal;
}

/** A part taken in a group. */
export interface RunningSubscription {
  /**
   * How many messages of the partitions that fell to this part are not acknowledged yet; undefined while it has not
   * joined the group.
   */
  lag(): Promise<number | undefined>;
  /** Resolves when nothing is being handled any more, and what was acknowledged is kept. */
  stop(): Promise<void>;
}

/** How long a message that could not be handled waits before it comes again, in ms: the longer, the more often it did. */
export function retryDelayMs(failures: number): number {
  return Math.min(10_000, 100 * 2 ** Math.min(failures, 10)) * (0.8 + Math.random() * 0.4);
}
