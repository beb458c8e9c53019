import { Channel } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import type {
  CheckTicketChangeRequest,
  CheckTicketChangeResponse,
  TicketChange,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { DomainError, invalidInput, type Violation } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { ReadSettings, TicketSettings } from '../settings.ts';
import type { TagStore } from '../tag/store.ts';
import { type BulkElement, readBulkElement } from './patch.ts';
import type { TicketInput } from './rules/fields.ts';
import { tagViolations } from './rules/patch.ts';
import { isManual } from './rules/spam.ts';
import { subchannelViolations } from './rules/subchannels.ts';
import type { TicketStore } from './store/store.ts';

/** The dependencies of checks, and of other reads of tags and settings. */
export interface CheckDeps {
  tags: Pick<TagStore, 'tree'>;
  settings: ReadSettings;
}

/**
 * Checks a change of tickets that another service makes later.
 *
 * Errors: settings_unavailable. Source: docs/reference/api.md, Bulk changes.
 */
export async function checkTicketChange(
  deps: CheckDeps,
  _call: Call,
  { change }: CheckTicketChangeRequest,
): Promise<CheckTicketChangeResponse> {
  const elements = change ? [{ ...readBulkElement(change), change, pointer: '#' }] : [];
  const violations = await findChangeViolations(deps, elements);
  return {
    $typeName: 'ticketing.tickets.v1.CheckTicketChangeResponse',
    violations: violations.map((violation) => ({ $typeName: 'ticketing.api.v1.Violation', ...violation })),
  };
}

/** An element of a bulk request and its JSON Pointer. */
interface PlacedElement extends BulkElement {
  change: TicketChange;
  pointer: string;
}

/**
 * Checks changes of tickets before any of them is applied.
 *
 * Errors: ticket_not_found, if nothing else is wrong; duplicate_ticket, unknown_ticket, and those of `findChangeViolations`,
 * each with a pointer. Source: docs/reference/api.md, Bulk changes.
 */
export async function requireValidChanges(
  deps: CheckDeps & { tickets: Pick<TicketStore, 'versions'> },
  elements: readonly PlacedElement[],
): Promise<void> {
  const [found, versions] = await Promise.all([
    findChangeViolations(deps, elements),
    deps.tickets.versions(elements.map(({ change: { id = 0 } }) => id)),
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

/**
 * The violations in changes of tickets that the rules of the contract cannot find and that do not depend on the tickets.
 *
 * Errors: settings_unavailable, as of `findSubchannelViolations`.
 */
async function findChangeViolations(deps: CheckDeps, elements: readonly PlacedElement[]): Promise<Violation[]> {
  const tree = await deps.tags.tree();
  const violations = elements.flatMap(({ change: { spamStatus }, patch, pointer }): Violation[] => {
    const found = tagViolations(patch, tree, pointer);
    if (spamStatus === undefined || isManual(spamStatus)) return found;
    const detail = 'must be manual_spam or manual_clean';
    return [...found, { pointer: `${pointer}/spamStatus`, code: 'not_allowed', detail }];
  });
  const inputs = elements.map(({ patch, pointer }) => ({ input: patch.input, pointer }));
  return [...violations, ...(await findSubchannelViolations(deps.settings, inputs))];
}

/** The input of an object in a request, and the pointer of the object. */
interface PlacedInput {
  input: TicketInput;
  pointer: string;
}

/**
 * The violations in the subchannel that a request names for a message: as of `findSubchannelViolations`, and that of a
 * subchannel which is no mailbox, on a ticket of channel email.
 *
 * Errors: settings_unavailable, as of `findSubchannelViolations`.
 */
export async function findMailboxViolations(
  settings: ReadSettings,
  channel: Channel,
  subchannelId: number | undefined,
): Promise<Violation[]> {
  if (subchannelId === undefined) return [];
  const violations = await findSubchannelViolations(settings, [{ input: { subchannelId }, pointer: '#' }]);
  const { channel: inlet = channel } = (await settings()).subchannels?.get(subchannelId) ?? {};
  if (violations.length > 0 || channel !== Channel.EMAIL || inlet === Channel.EMAIL) return violations;
  return [{ pointer: '#/subchannelId', code: 'not_allowed', detail: 'is no mailbox' }];
}

/**
 * The violations in the subchannels that inputs set.
 *
 * Errors: settings_unavailable, if an input sets one that is not known, and the settings service does not respond.
 */
export async function findSubchannelViolations(
  settings: ReadSettings,
  inputs: readonly PlacedInput[],
): Promise<Violation[]> {
  const given = inputs.filter(({ input }) => (input.subchannelId ?? null) !== null);
  if (given.length === 0) return [];
  const violationsIn = ({ subchannels }: TicketSettings) =>
    given.flatMap(({ input, pointer }) => subchannelViolations(input, subchannels, pointer));
  const isAccepted = violationsIn(await settings()).length === 0;
  // Only the owner knows a subchannel that was made or enabled a moment ago.
  return isAccepted ? [] : violationsIn(await settings('owner'));
}
