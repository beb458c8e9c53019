import { create } from '@bufbuild/protobuf';
import { ContentType } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { type IntentOutcome, IntentOutcomeSchema } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import { toTimestamp } from '@ticketing/rest/codec/date-time.ts';
import type { ExecutionState } from '../../intent/rules/execution.ts';
import { type ActionResult, noMessage } from './backend-response.ts';

/**
 * Returns the outcome of an execution, before the customer is informed and the ticket is closed. Units: `now` in Unix
 * seconds.
 */
export function toOutcome(
  result: ActionResult,
  { txId, caller }: Pick<ExecutionState, 'txId' | 'caller'>,
  { aiAgentId, now }: { aiAgentId: number; now: number },
): IntentOutcome {
  const { kind, responseCode, messageLocalized, message, messageType, internalData } = result;
  return create(IntentOutcomeSchema, {
    responseCode,
    aiAgentId,
    success: kind === 'success',
    ...(messageLocalized === null ? {} : { messageLocalized }),
    ...(message === null ? {} : { message, messageType }),
    internalData,
    executedAt: toTimestamp(now),
    userId: caller?.profileId ?? 0,
    txId,
  });
}

/** Returns the result of an action that this system does itself. */
export function ownResult(kind: 'success' | 'failure', responseCode: string, internalData = {}): ActionResult {
  return { kind, responseCode, ...noMessage, internalData };
}

/** Sentences for customers, by the language of their ticket. */
const sentences: Readonly<Record<string, string>> = {
  de: 'Ihr Anliegen wurde bearbeitet.',
  en: 'Your request has been processed.',
};

/** A message to a customer. */
export interface MessageText {
  text: string;
  type: ContentType;
}

/** Returns the message to a customer about an outcome: the one of the backend system, or that the request was processed. */
export function informText(
  { message, messageType = ContentType.TEXT, messageLocalized }: IntentOutcome,
  { languageCode }: Pick<ExecutionState, 'languageCode'>,
): MessageText {
  if (message !== undefined) return { text: message, type: messageType };
  const text = messageLocalized ?? sentences[languageCode ?? ''] ?? sentences.en ?? '';
  return { text, type: ContentType.TEXT };
}
