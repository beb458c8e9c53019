import { type Priority, type SpamStatus, TicketStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { isSpam } from './spam.ts';

/** The possible orders of the queue. Source: docs/reference/api.md, Queue. */
export const routingOrders = ['sla', 'prioritySla', 'priorityNewest', 'priorityOldest'] as const;

export type RoutingOrder = (typeof routingOrders)[number];

/** The fields of a ticket that its position in the queue depends on. Units: times in Unix seconds. */
interface QueuedTicket {
  id: number;
  priority: Priority;
  createdAt: number | null;
  dueBy: number | null;
}

/** The earliest possible date, 0001-01-01, in Unix seconds. */
const firstSecond = -62_135_596_800;
const timeDigits = 10;
const idDigits = 8;
const latest = 16 ** timeDigits - 1;

/**
 * The position of a ticket in each order of the queue, as a text. The texts sort like the tickets in the queue. A ticket
 * without a time comes after those with one, and the id decides between tickets that are otherwise equal.
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

/** The id of the ticket with a position. */
export function idOfQueueKey(key: string): number {
  return Number.parseInt(key.slice(-idDigits), 16);
}

function time(seconds: number | null): string {
  return digits(seconds === null ? latest : seconds - firstSecond, timeDigits);
}

function digits(value: number, count: number): string {
  return value.toString(16).padStart(count, '0');
}

/** A part of the queue: the tickets of one status that are spam, or those that are not. */
interface QueueGroup {
  status: TicketStatus;
  isSpam: boolean;
}

const statuses: readonly TicketStatus[] = [TicketStatus.OPEN, TicketStatus.PENDING, TicketStatus.CLOSED];

/** All groups. Each ticket is in one of them. */
export const queueGroups: readonly QueueGroup[] = statuses.flatMap((status) => [
  { status, isSpam: false },
  { status, isSpam: true },
]);

/** The number of the group that is the queue without filters: open tickets that are not spam. */
export const defaultQueueGroup = queueGroups.findIndex(({ status, isSpam }) => status === TicketStatus.OPEN && !isSpam);

/** The number of a ticket's group: its index in `queueGroups`. It is stored in the document. */
export function toQueueGroup(ticket: { status: TicketStatus; spamStatus: SpamStatus | null }): number {
  return statuses.indexOf(ticket.status) * 2 + (isSpam(ticket.spamStatus) ? 1 : 0);
}

/** The fields of a ticket that decide whether and where it is in the queue. */
interface MovedTicket extends QueuedTicket {
  status: TicketStatus;
  spamStatus: SpamStatus | null;
  tagIds: readonly number[];
}

/** A change of a ticket that may move it in the queue. */
export interface QueueChange {
  id: number;
  /** The version of the ticket after the change. */
  version: number;
  /** The ticket after the change; undefined if it is deleted. */
  after: MovedTicket | undefined;
}
