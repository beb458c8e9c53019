import type { Violation } from '@ticketing/errors/domain-error.ts';
import type { TicketState } from '../ticket/rules/fields.ts';

/** The violations in the intents that a message is about: they must be intents of its ticket. */
export function intentViolations(intentIds: readonly number[], { intents }: Pick<TicketState, 'intents'>): Violation[] {
  const known = new Set(intents.map(({ id }) => id));
  return intentIds.flatMap((id, index) => {
    const detail = `the ticket has no intent ${id}`;
    return known.has(id) ? [] : [{ pointer: `#/intentIds/${index}`, code: 'unknown_intent', detail }];
  });
}
