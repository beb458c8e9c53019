import { DomainError, type Violation } from '@ticketing/errors/domain-error.ts';
import { type Caller, callerKey, hasRight, isHuman } from '@ticketing/service-kit/identity/caller.ts';
import type { TicketState } from '../ticket/rules/fields.ts';
import type { ConversationState } from './rules/fields.ts';

const noteRight = 'updateTechnicalTicketFields';

/**
 * Checks that the caller may change or delete a private note: it is the statement of its author.
 *
 * Errors: not_the_author. Source: docs/reference/api.md, Conversations.
 */
export function requireNoteRight(
  caller: Caller,
  { agentId, authorKey }: Pick<ConversationState, 'agentId' | 'authorKey'>,
): void {
  // Notes of earlier versions have no key of their author.
  const isAuthor =
    authorKey === null ? isHuman(caller) && agentId === caller.profileId : authorKey === callerKey(caller);
  if (isAuthor || hasRight(caller, noteRight)) return;
  const detail = `Only its author, an admin or a holder of the right ${noteRight} may change or delete a private note.`;
  throw new DomainError('permission_denied', 'not_the_author', detail);
}

/** The error for a change of a message that is neither a draft nor a private note. */
export function messageWasSent(): DomainError {
  const detail = 'Only a draft or a private note can be changed or deleted.';
  return new DomainError('failed_precondition', 'message_was_sent', detail);
}

/** The violations in the intents that a message is about: they must be intents of its ticket. */
export function intentViolations(intentIds: readonly number[], { intents }: Pick<TicketState, 'intents'>): Violation[] {
  const known = new Set(intents.map(({ id }) => id));
  return intentIds.flatMap((id, index) => {
    const detail = `the ticket has no intent ${id}`;
    return known.has(id) ? [] : [{ pointer: `#/intentIds/${index}`, code: 'unknown_intent', detail }];
  });
}
