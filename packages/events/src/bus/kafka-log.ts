import type { Logger } from '@ticketing/runtime/logger.ts';
import kafkajs, { type logCreator } from 'kafkajs';

// A CommonJS module; Node does not find this name in it as a named export.
const { logLevel } = kafkajs;

const everyMs = 60_000;
const maxKinds = 100;

/** How often a kind of line came since it was last logged, and when that was. Units: ms of the monotonic clock. */
interface LoggedKind {
  at: number;
  repeated: number;
}

/**
 * Passes errors and warnings of the Kafka client to the log of the service as warnings, each kind once a minute: while no
 * broker responds, the client writes dozens of lines a second. Whoever needs the bus logs what that means.
 */
export function kafkaLog(log: Pick<Logger, 'warn'>, now: () => number = () => performance.now()): logCreator {
  const logged = new Map<string, LoggedKind>();
  return () => (entry) => {
    if (entry.level > logLevel.WARN || entry.level === logLevel.NOTHING) return;
    const { message, broker, groupId } = entry.log;
    const kind = describeKind(entry.namespace, message);
    const before = logged.get(kind);
    if (before && now() - before.at < everyMs) {
      before.repeated += 1;
      return;
    }
    if (logged.size >= maxKinds) logged.clear();
    logged.set(kind, { at: now(), repeated: 0 });
    log.warn({ client: entry.namespace, broker, group: groupId, repeated: before?.repeated ?? 0 }, `Kafka: ${message}`);
  };
}

/** What stands before the reason and the numbers of a message is the same for all of its kind. */
function describeKind(namespace: string, message: string): string {
  return `${namespace} ${message.split(':', 1)[0]?.replace(/\d+/g, '#')}`;
}
