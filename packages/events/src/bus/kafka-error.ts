import { DomainError } from '@ticketing/errors/domain-error.ts';
import kafkajs from 'kafkajs';

// A CommonJS module; Node does not find this name in it as a named export.
const { KafkaJSError } = kafkajs;

/** UNKNOWN_TOPIC_OR_PARTITION. */
const unknownTopicCode = 3;
/** MESSAGE_TOO_LARGE, RECORD_LIST_TOO_LARGE, INVALID_RECORD. */
const refusedCodes = [10, 18, 87];

/**
 * Runs work with the Kafka client and translates its errors.
 *
 * Errors: bus_unavailable; unknown_topic, which is transient too, because topics are made while the system starts;
 * message_refused.
 */
export async function translateKafkaErrors<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (hasCode(error, unknownTopicCode)) {
      throw new DomainError('unavailable', 'unknown_topic', 'There is no such topic.', { cause: error });
    }
    if (refusedCodes.some((code) => hasCode(error, code))) {
      throw new DomainError('failed_precondition', 'message_refused', 'The bus refuses a message.', { cause: error });
    }
    if (error instanceof KafkaJSError) {
      throw new DomainError('unavailable', 'bus_unavailable', 'The bus does not respond.', { cause: error });
    }
    throw error;
  }
}

function hasCode(error: unknown, code: number): boolean {
  if (typeof error !== 'object' || error === null) return false;
  if ('code' in error && error.code === code) return true;
  return 'cause' in error && hasCode(error.cause, code);
}
