import type { Logger } from '@ticketing/runtime/logger.ts';
import { onceAMinute } from '@ticketing/runtime/once-a-minute.ts';
import kafkajs, { type logCreator } from 'kafkajs';

// A CommonJS module; Node does not find this name in it as a named export.
const { logLevel } = kafkajs;

/**
 * Passes errors and warnings of the Kafka client to the log of the service as warnings, each kind once a minute: while no
 * broker responds, the client writes dozens of lines a second. The users of the bus log what that means.
 */
export function kafkaLog(log: Pick<Logger, 'warn'>, now?: () => number): logCreator {
  const pass = onceAMinute(now);
  return () => (entry) => {
    if (entry.level > logLevel.WARN || entry.level === logLevel.NOTHING) return;
    const { message, broker, groupId, error } = entry.log;
    const repeated = pass(describeKind(entry.namespace, message));
    if (repeated === undefined) return;
    const fields = { client: entry.namespace, broker, group: groupId, repeated };
    log.warn(fields, `Kafka: ${message}${typeof error === 'string' ? `: ${error}` : ''}`);
  };
}

/** Messages of a kind have the same text before the reason, but for their numbers. */
function describeKind(namespace: string, message: string): string {
  return `${namespace} ${message.split(':', 1)[0]?.replace(/\d+/g, '#')}`;
}
