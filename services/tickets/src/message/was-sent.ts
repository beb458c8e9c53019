import { DomainError } from '@ticketing/errors/domain-error.ts';

/** The error for a change of a message that is neither a draft nor a private note. */
export function messageWasSent(): DomainError {
  const detail = 'Only a draft or a private note can be changed or deleted.';
  return new DomainError('failed_precondition', 'message_was_sent', detail);
}
