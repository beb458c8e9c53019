import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { PendingDelivery } from '../../delivery/rules/delivery.ts';
import { deliveryFixture } from '../../delivery/rules/delivery-fixture.ts';
import { pendingQueue } from './pending-queue.ts';

const of = (ticketId: number | null, position: number) => deliveryFixture({ ticketId, position });

it('attempts deliveries of several tickets at once, and those of one ticket one after the other', () => {
  const queue = pendingQueue();
  const [first, second, other] = [of(1, 1), of(1, 2), of(2, 3)];
  expect(queue.add([other, second, first])).toBe(true);
  expect([queue.next(), queue.next(), queue.next()]).toEqual([first, other, undefined]);
  expect(queue.attempted()).toEqual([other.id, first.id]);
  queue.done(first, false);
  expect(queue.next()).toEqual(second);
});

it('forgets the later deliveries of a ticket whose attempt has failed', () => {
  const queue = pendingQueue();
  const [first, other] = [of(1, 1), of(2, 3)];
  queue.add([first, of(1, 2), other]);
  queue.done(queue.next() ?? first, true);
  expect(queue.tickets()).toEqual([2]);
  expect([queue.next(), queue.next()]).toEqual([other, undefined]);
});

it('takes a delivery once, also while it is attempted', () => {
  const queue = pendingQueue();
  queue.add([of(1, 1)]);
  queue.add([of(1, 1), of(1, 2)]);
  expect(queue.waiting()).toBe(2);
  queue.next();
  queue.add([of(1, 1), of(1, 2)]);
  expect(queue.waiting()).toBe(1);
});

it('takes at most 8 deliveries of a ticket that wait', () => {
  const queue = pendingQueue();
  const chain = Array.from({ length: 8 }, (_, index) => of(1, index));
  expect(queue.add(chain)).toBe(true);
  expect(queue.add([of(1, 8), of(2, 9)])).toBe(false);
  expect(queue.waiting()).toBe(9);
});

it('attempts all test messages at once, before everything else', () => {
  const queue = pendingQueue();
  const tests = [
    deliveryFixture({ id: 'a', ticketId: null, position: 0 }),
    deliveryFixture({ id: 'b', ticketId: null, position: 0 }),
  ];
  queue.add([of(1, 1), ...tests]);
  expect([queue.next(), queue.next()]).toEqual(tests);
});

it('attempts one for which somebody waits before the others, but not before the earlier ones of its ticket', () => {
  const queue = pendingQueue();
  const requested = deliveryFixture({ ticketId: 2, position: 4, isRequested: true });
  queue.add([of(1, 1), of(3, 2), of(2, 3), requested]);
  const first = queue.next() as PendingDelivery;
  expect(first.position).toBe(3);
  expect(queue.next()?.position).toBe(1);
  queue.done(first, false);
  expect(queue.next()).toEqual(requested);
});

it('attempts one that was delivered before beside those of its ticket', () => {
  const queue = pendingQueue();
  const again = deliveryFixture({ ticketId: 1, position: 1, isDelivered: true });
  queue.add([again, of(1, 2)]);
  expect([queue.next(), queue.next()?.position]).toEqual([again, 2]);
  queue.done(again, true);
  expect(queue.tickets()).toEqual([1]);
});

it('keeps what is attempted when all that waits is forgotten', () => {
  const queue = pendingQueue();
  queue.add([of(1, 1), of(1, 2), of(2, 3)]);
  const attempted = queue.next() as PendingDelivery;
  queue.clear();
  expect([queue.waiting(), queue.tickets(), queue.next()]).toEqual([0, [1], undefined]);
  queue.done(attempted, false);
  expect(queue.tickets()).toEqual([]);
});

it('keeps the order of each ticket, whatever is added and ended in whatever order', () => {
  const step = fc.oneof(
    fc.constant('next' as const),
    fc.nat(5).map((ended) => ({ ended })),
    fc.nat(3).map((ticket) => ({ ticket })),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const queue = pendingQueue();
      const running: PendingDelivery[] = [];
      const begun = new Map<number | null, number>();
      let position = 0;
      for (const one of steps) {
        if (one === 'next') {
          const delivery = queue.next();
          if (!delivery) continue;
          expect(running.some(({ ticketId }) => ticketId === delivery.ticketId)).toBe(false);
          expect(delivery.position).toBeGreaterThan(begun.get(delivery.ticketId) ?? 0);
          begun.set(delivery.ticketId, delivery.position);
          running.push(delivery);
        } else if ('ended' in one) {
          const [delivery] = running.splice(one.ended % Math.max(1, running.length), 1);
          if (delivery) queue.done(delivery, false);
        } else queue.add([of(one.ticket, ++position)]);
      }
    }),
  );
});
