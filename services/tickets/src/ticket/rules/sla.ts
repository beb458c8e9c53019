import type { Priority } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import type { TagState } from '../../tag/rules.ts';
import { type BusinessTime, businessTime } from './business-time.ts';
import type { TicketInput, TicketState } from './fields.ts';

/** The inputs for the deadlines and the priority of a ticket, apart from the ticket. */
export interface SlaRules {
  findTag(id: number): Pick<TagState, 'sla' | 'firstResponseSla' | 'priority'> | undefined;
  businessTime: BusinessTime;
}

/** The rules where no tag says anything. */
export const noSla: SlaRules = { findTag: () => undefined, businessTime: businessTime(undefined) };

/** The fields of a ticket that its tags set. Units: times in Unix seconds; null where no tag says anything. */
interface Targets {
  dueBy: number | null;
  firstResponseDueBy: number | null;
  priority: Priority | null;
}

/**
 * Completes the content of a new ticket: the shortest SLA and the highest priority of its tags, unless given.
 *
 * Units: `createdAt` in Unix seconds. Source: docs/reference/api.md, SLA and business hours.
 */
export function withInitialTargets(input: TicketInput, createdAt: number, rules: SlaRules): TicketInput {
  const { priority, ...deadlines } = computeTargets(input.tagIds ?? [], createdAt, rules);
  return { ...deadlines, ...(priority === null ? {} : { priority }), ...input };
}

/**
 * Completes a change of the tags of a ticket: it makes the deadlines only shorter and the priority only higher, apart from
 * those that the change sets itself.
 *
 * Source: docs/reference/api.md, SLA and business hours.
 */
export function withStricterTargets(before: TicketState, input: TicketInput, rules: SlaRules): TicketInput {
  if (input.tagIds === undefined || areSame(before.tagIds, input.tagIds)) return input;
  const createdAt = input.createdAt ?? before.createdAt;
  if (createdAt === null) return input;
  const targets = computeTargets(input.tagIds, createdAt, rules);
  return {
    dueBy: earlier(before.dueBy, targets.dueBy),
    firstResponseDueBy: earlier(before.firstResponseDueBy, targets.firstResponseDueBy),
    priority: higher(before.priority, targets.priority),
    ...input,
  };
}

function computeTargets(tagIds: readonly number[], createdAt: number, { findTag, businessTime }: SlaRules): Targets {
  const tags = tagIds.flatMap((id) => findTag(id) ?? []);
  // A tag that was stored by an earlier version has no `firstResponseSla`.
  const deadline = (seconds: number | null) => (seconds === null ? null : businessTime.after(createdAt, seconds));
  return {
    dueBy: deadline(smallest(tags.map(({ sla }) => sla))),
    firstResponseDueBy: deadline(smallest(tags.map(({ firstResponseSla = null }) => firstResponseSla))),
    priority: tags.reduce<Priority | null>((highest, { priority }) => higher(highest, priority), null),
  };
}

function smallest(values: readonly (number | null)[]): number | null {
  return values.reduce(earlier, null);
}

/** The smaller of two values, of which either may be missing. */
function earlier(left: number | null, right: number | null): number | null {
  if (left === null || right === null) return left ?? right;
  return Math.min(left, right);
}

/** The higher of two priorities. A number is a rank. */
function higher<Left extends Priority | null>(left: Left, right: Priority | null): Left | Priority {
  return right === null || (left !== null && left >= right) ? left : right;
}

function areSame(left: readonly number[], right: readonly number[]): boolean {
  return left.length === right.length && left.every((id) => right.includes(id));
}
