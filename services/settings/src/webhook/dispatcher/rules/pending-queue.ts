import type { PendingDelivery } from '../../delivery/rules/delivery.ts';

/** The deliveries to one endpoint that a dispatcher has in memory: those that wait, and those that are being attempted. */
export interface PendingQueue {
  /** Takes deliveries that are not in it yet, up to a number for each ticket. Returns whether it has taken all of them. */
  add(deliveries: readonly PendingDelivery[]): boolean;
  /**
   * Takes out the next delivery to attempt: the first in the feed whose ticket has no other attempt. A ticket with a
   * delivery for which somebody waits comes before others; its deliveries stay in order.
   */
  next(): PendingDelivery | undefined;
  /** Ends the attempt of a delivery. `isBlocked` forgets the later ones of its ticket, which have to wait. */
  done(delivery: PendingDelivery, isBlocked: boolean): void;
  /** Removes all waiting deliveries. */
  clear(): void;
  /** Returns the number of waiting deliveries. */
  waiting(): number;
  /** Returns the tickets of the deliveries in the queue. */
  tickets(): number[];
  /** Returns the ids of the deliveries that are being attempted. */
  attempted(): string[];
}

/** Limits the deliveries of one ticket, so that they do not fill the memory for those of others. */
const maxPerTicket = 8;

/** Makes an empty queue. */
export function pendingQueue(): PendingQueue {
  const lanes = new Map<number | string, Lane>();
  // A test message has no ticket, and a delivery that was delivered before has no order: they wait for nothing.
  const toLaneKey = ({ ticketId, id, isDelivered }: PendingDelivery) => (isDelivered ? id : (ticketId ?? id));

  function addOne(delivery: PendingDelivery): boolean {
    const key = toLaneKey(delivery);
    const lane = lanes.get(key) ?? { waiting: [], attempted: undefined };
    if (lane.attempted?.id === delivery.id || lane.waiting.some(({ id }) => id === delivery.id)) return true;
    if (lane.waiting.length >= maxPerTicket) return false;
    lane.waiting.push(delivery);
    lane.waiting.sort((left, right) => left.position - right.position);
    lanes.set(key, lane);
    return true;
  }

  function forgetWaiting(key: number | string, lane: Lane): void {
    lane.waiting = [];
    if (!lane.attempted) lanes.delete(key);
  }

  return {
    add: (deliveries) => deliveries.map(addOne).every((isTaken) => isTaken),
    next() {
      let first: Lane | undefined;
      for (const lane of lanes.values()) {
        if (!lane.attempted && lane.waiting.length > 0 && (!first || isBefore(lane, first))) first = lane;
      }
      const delivery = first?.waiting.shift();
      if (first) first.attempted = delivery;
      return delivery;
    },
    done(delivery, isBlocked) {
      const key = toLaneKey(delivery);
      const lane = lanes.get(key);
      if (!lane) return;
      lane.attempted = undefined;
      if (isBlocked || lane.waiting.length === 0) forgetWaiting(key, lane);
    },
    clear() {
      for (const [key, lane] of lanes) forgetWaiting(key, lane);
    },
    waiting: () => [...lanes.values()].reduce((sum, lane) => sum + lane.waiting.length, 0),
    tickets: () => [...lanes.keys()].filter((key) => typeof key === 'number'),
    attempted: () => [...lanes.values()].flatMap(({ attempted }) => attempted?.id ?? []),
  };
}

interface Lane {
  /** In the order of the feed. */
  waiting: PendingDelivery[];
  attempted: PendingDelivery | undefined;
}

function isBefore(left: Lane, right: Lane): boolean {
  const [leftIsRequested, rightIsRequested] = [left, right].map(isRequested);
  return leftIsRequested === rightIsRequested ? firstPosition(left) < firstPosition(right) : leftIsRequested === true;
}

function isRequested({ waiting }: Lane): boolean {
  return waiting.some((delivery) => delivery.isRequested);
}

function firstPosition({ waiting }: Lane): number {
  return waiting[0]?.position ?? Number.POSITIVE_INFINITY;
}
