import { isObject } from '../import/json.ts';

/** A change of a ticket, as a webhook or the feed shows it. */
export interface TicketEvent {
  id: string;
  ticketId: number;
  version: number;
  type: string;
  cause: string;
  subchannelId: number | undefined;
  conversationId: number | undefined;
}

/** A receiver of webhooks or a reader of the feed: the events that it must receive, and its records. */
export interface Subscriber {
  name: string;
  takes(event: TicketEvent): boolean;
  /** In the order in which the events arrived. */
  received: readonly TicketEvent[];
  /** The problems that it has noticed itself. */
  problems: readonly string[];
}

/** The result for a subscriber: counts of events, and a sentence for each thing that is wrong. */
export interface SubscriberVerdict {
  name: string;
  expected: number;
  received: number;
  duplicates: number;
  outOfOrder: string[];
  lost: string[];
  /** Events that it must not get, or not with this content, and the problems that it has noticed itself. */
  unexpected: string[];
}

/** Compares what was published with what a subscriber has received. Source: docs/reference/guarantees.md, Events. */
export function judgeSubscriber(published: readonly TicketEvent[], subscriber: Subscriber): SubscriberVerdict {
  const { name, takes, received, problems } = subscriber;
  const expected = new Map(published.filter(takes).map((event) => [event.id, event]));
  const first = new Map<string, TicketEvent>();
  const outOfOrder: string[] = [];
  const newest = new Map<number, number>();
  for (const event of received) {
    if (first.has(event.id)) continue;
    first.set(event.id, event);
    const before = newest.get(event.ticketId) ?? 0;
    if (event.version <= before) outOfOrder.push(`${name}: ${describe(event)} arrived after version ${before}`);
    else newest.set(event.ticketId, event.version);
  }
  const isLost = ({ id }: TicketEvent) => !first.has(id);
  const differing = received.filter((event) => !isSame(event, expected.get(event.id)));
  return {
    name,
    expected: expected.size,
    received: received.length,
    duplicates: received.length - first.size,
    outOfOrder,
    lost: [...expected.values()].filter(isLost).map((event) => `${name}: ${describe(event)} has not arrived`),
    unexpected: [
      ...differing.map((event) => `${name}: ${describe(event)} was not published, or not for this receiver`),
      ...problems.map((problem) => `${name}: ${problem}`),
    ],
  };
}

/** A sentence for each thing that is wrong. */
export function subscriberFindings({ lost, outOfOrder, unexpected }: SubscriberVerdict): string[] {
  return [...lost, ...outOfOrder, ...unexpected];
}

/** Reads an event from its JSON; undefined if it is none. */
export function parseTicketEvent(json: unknown): TicketEvent | undefined {
  if (!isObject(json)) return undefined;
  const { eventId, ticketId, version, type, cause, subchannelId, conversationId } = json;
  if (typeof eventId !== 'string' || typeof ticketId !== 'number' || typeof version !== 'number') return undefined;
  const event = { id: eventId, ticketId, version, type: String(type), cause: String(cause) };
  const toId = (given: unknown) => (typeof given === 'number' ? given : undefined);
  return { ...event, subchannelId: toId(subchannelId), conversationId: toId(conversationId) };
}

function describe({ id, ticketId, version, type, cause }: TicketEvent): string {
  return `${id} (ticket ${ticketId} version ${version}, ${type}, cause ${cause})`;
}

function isSame(left: TicketEvent, right: TicketEvent | undefined): boolean {
  return (
    right !== undefined &&
    describe(left) === describe(right) &&
    left.subchannelId === right.subchannelId &&
    left.conversationId === right.conversationId
  );
}
