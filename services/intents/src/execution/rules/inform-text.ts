import type { IntentOutcome } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import type { ExecutionState } from '../../intent/rules/execution.ts';

/** Sentences for customers, by the language of their ticket. */
const sentences: Readonly<Record<string, string>> = {
  de: 'Ihr Anliegen wurde bearbeitet.',
  en: 'Your request has been processed.',
};

/** The message to a customer about an outcome: the one of the backend system, or that the request was processed. */
export function informText(
  { message, messageLocalized }: Pick<IntentOutcome, 'message' | 'messageLocalized'>,
  { languageCode }: Pick<ExecutionState, 'languageCode'>,
): string {
  return message ?? messageLocalized ?? sentences[languageCode ?? ''] ?? sentences.en ?? '';
}
