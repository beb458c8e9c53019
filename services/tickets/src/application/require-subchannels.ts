import { DomainError, type Violation } from '@ticketing/errors/domain-error.ts';
import { type Subchannels, subchannelViolations } from '../domain/subchannels.ts';
import type { TicketInput } from '../domain/ticket-fields.ts';
import type { Context } from './context.ts';

/** The input of an object in a request, and the pointer of the object. */
export interface PlacedInput {
  input: TicketInput;
  pointer: string;
}

/**
 * The violations in the subchannels that inputs set.
 *
 * Errors: settings_unavailable, if an input sets one and the settings service was never reached.
 */
export async function findSubchannelViolations(
  context: Pick<Context, 'settings'>,
  inputs: readonly PlacedInput[],
): Promise<Violation[]> {
  const given = inputs.filter(({ input }) => (input.subchannelId ?? null) !== null);
  if (given.length === 0) return [];
  const subchannels: Subchannels = (await context.settings()).subchannels;
  if (!subchannels) {
    const detail = 'The subchannels are not known yet, because the settings service is unavailable.';
    throw new DomainError('unavailable', 'settings_unavailable', detail, { retryAfterSeconds: 5 });
  }
  return given.flatMap(({ input, pointer }) => subchannelViolations(input, subchannels, pointer));
}
