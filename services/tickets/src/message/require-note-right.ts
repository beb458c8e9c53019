import { DomainError } from '@ticketing/errors/domain-error.ts';
import { type Caller, callerKey, hasRight, isHuman } from '@ticketing/service-kit/identity/caller.ts';
import type { ConversationState } from './rules/fields.ts';

const right = 'updateTechnicalTicketFields';

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
  if (isAuthor || hasRight(caller, right)) return;
  const detail = `Only its author, an admin or a holder of the right ${right} may change or delete a private note.`;
  throw new DomainError('permission_denied', 'not_the_author', detail);
}
