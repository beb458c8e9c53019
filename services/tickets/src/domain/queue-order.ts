import { type Priority, type SpamStatus, TicketStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { isSpam } from './spam.ts';

/** The orders that the queue can have. Source: decisions.md section 5. */
export const routingOrders = ['sla', 'prioritySla', 'priorityNewest', 'priorityOldest'] as const;

/** An order of the queue. */
export type RoutingOrder = (typeof routingOrders)[number];

/** What a ticket's place in the queue depends on. Units: Unix seconds. */
export interface QueuedTicket {
  id: number;
  priority: Priority;
  createdAt: number | null;
  dueBy: number | null;
}

/** The earliest date that there is, 0001-01-01, in Unix seconds. */
const firstSecond = -62_135_596_800;
const timeDigits = 10;
const idDigits = 8;
const latest = 16 ** timeDigits - 1;

/**
 * A ticket's place in each order of the queue, as a text that sorts like the order: what comes first sorts first, unset
 * last; ties end at the id.
 */
export function queueKeys(ticket: QueuedTicket): Record<RoutingOrder, string> {
  const urgency = digits(9 - ticket.priority, 1);
  const dueBy = time(ticket.dueBy);
  const createdAt = time(ticket.createdAt);
  const newest = digits(latest - ((ticket.createdAt ?? firstSecond) - firstSecond), timeDigits);
  const id = digits(ticket.id, idDigits);
  return {
    sla: dueBy + createdAt + id,
    prioritySla: urgency + dueBy + createdAt + id,
    priorityNewest: urgency + newest + id,
    priorityOldest: urgency + createdAt + id,
  };
}

function time(seconds: number | null): string {
  return digits(seconds === null ? latest : seconds - firstSecond, timeDigits);
}

function digits(value: number, count: number): string {
  return value.toString(16).padStart(count, '0');
}

/** The tickets that share a queue: those of a status, spam apart. */
export interface QueueGroup {
  status: TicketStatus;
  isSpam: boolean;
}

const statuses: readonly TicketStatus[] = [TicketStatus.OPEN, TicketStatus.PENDING, TicketStatus.CLOSED];

/** All groups; each ticket is in one. */
export const queueGroups: readonly QueueGroup[] = statuses.flatMap((status) => [
  { status, isSpam: false },
  { status, isSpam: true },
]);

/** The number by which a group is kept: its place in `queueGroups`. */
export function queueGroupOf(ticket: { status: TicketStatus; spamStatus: SpamStatus | null }): number {
  return statuses.indexOf(ticket.status) * 2 + (isSpam(ticket.spamStatus) ? 1 : 0);
}
