import { DomainError, invalidInput, type Violation } from '@ticketing/errors/domain-error.ts';
import type { Context } from '../context.ts';
import { findChangeViolations, type PlacedElement } from './find-change-violations.ts';

/**
 * Checks changes of tickets before any of them is applied.
 *
 * Errors: ticket_not_found, if nothing else is wrong; duplicate_ticket, unknown_ticket, and those of `findChangeViolations`,
 * each with a pointer. Source: docs/reference/api.md, Bulk changes.
 */
export async function requireValidChanges(context: Context, elements: readonly PlacedElement[]): Promise<void> {
  const [found, versions] = await Promise.all([
    findChangeViolations(context, elements),
    context.tickets.versions(elements.map(({ change: { id = 0 } }) => id)),
  ]);
  const seen = new Set<number>();
  const ofTickets = elements.flatMap(({ change: { id = 0 }, pointer }): Violation[] => {
    const violations: Violation[] = [];
    if (seen.has(id)) {
      violations.push({ pointer: `${pointer}/id`, code: 'duplicate_ticket', detail: `ticket ${id} comes twice` });
    }
    seen.add(id);
    if (!versions.has(id)) {
      violations.push({ pointer: `${pointer}/id`, code: 'unknown_ticket', detail: `ticket ${id} does not exist` });
    }
    return violations;
  });
  const violations = [...found, ...ofTickets];
  if (violations.length === 0) return;
  if (violations.every(({ code }) => code === 'unknown_ticket')) {
    throw new DomainError('not_found', 'ticket_not_found', 'Ticket not found', { violations });
  }
  throw invalidInput(violations);
}
