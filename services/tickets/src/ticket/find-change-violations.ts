import type { TicketChange } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import type { Violation } from '@ticketing/errors/domain-error.ts';
import type { Context } from '../context.ts';
import { findSubchannelViolations } from './find-subchannel-violations.ts';
import type { BulkElement } from './read-patch.ts';
import { tagViolations } from './rules/patch.ts';
import { isManual } from './rules/spam.ts';

/** An element of a bulk request and its JSON Pointer. */
export interface PlacedElement extends BulkElement {
  change: TicketChange;
  pointer: string;
}

/**
 * The violations in changes of tickets that the rules of the contract cannot find and that do not depend on the tickets.
 *
 * Errors: settings_unavailable, as of `findSubchannelViolations`.
 */
export async function findChangeViolations(
  context: Pick<Context, 'tags' | 'settings'>,
  elements: readonly PlacedElement[],
): Promise<Violation[]> {
  const tree = await context.tags.tree();
  const violations = elements.flatMap(({ change: { spamStatus }, patch, pointer }): Violation[] => {
    const found = tagViolations(patch, tree, pointer);
    if (spamStatus === undefined || isManual(spamStatus)) return found;
    const detail = 'must be manual_spam or manual_clean';
    return [...found, { pointer: `${pointer}/spamStatus`, code: 'not_allowed', detail }];
  });
  const inputs = elements.map(({ patch, pointer }) => ({ input: patch.input, pointer }));
  return [...violations, ...(await findSubchannelViolations(context, inputs))];
}
