import { describe, expect, test } from 'vitest';
import { judgeSubscriber, parseTicketEvent, subscriberFindings, type TicketEvent } from './subscriber.ts';

const event = (ticketId: number, version: number, more: Partial<TicketEvent> = {}): TicketEvent => ({
  id: `evt_${ticketId}_${version}`,
  ticketId,
  version,
  type: 'ticket.updated',
  cause: 'request',
  subchannelId: undefined,
  conversationId: undefined,
  ...more,
});
const published = [event(1, 1), event(2, 1), event(1, 2), event(1, 3, { cause: 'refresh' }), event(1, 4)];
const webhooks = published.filter(({ cause }) => cause !== 'refresh');

const judged = (received: readonly TicketEvent[], problems: string[] = []) =>
  judgeSubscriber(published, { name: 'all', takes: ({ cause }) => cause !== 'refresh', received, problems });

test('a subscriber that has received what its filter takes is right, also if some of it came again', () => {
  expect(judged(webhooks)).toMatchObject({ expected: 4, received: 4, duplicates: 0 });
  const again = judged([...webhooks, event(1, 1), event(2, 1)]);
  expect(again).toMatchObject({ expected: 4, received: 6, duplicates: 2 });
  expect(subscriberFindings(again)).toEqual([]);
});

test('an event that has not arrived is lost', () => {
  const { lost, outOfOrder } = judged(webhooks.filter(({ version }) => version !== 2));
  expect(lost).toEqual(['all: evt_1_2 (ticket 1 version 2, ticket.updated, cause request) has not arrived']);
  expect(outOfOrder).toEqual([]);
});

test('the first arrivals of the events of a ticket must be in the order of their versions', () => {
  const { lost, outOfOrder } = judged([event(1, 1), event(1, 4), event(1, 2), event(2, 1)]);
  expect(lost).toEqual([]);
  expect(outOfOrder).toEqual([
    'all: evt_1_2 (ticket 1 version 2, ticket.updated, cause request) arrived after version 4',
  ]);
});

describe('reported as unexpected is', () => {
  test.each([
    ['an event that the filter does not take', event(1, 3, { cause: 'refresh' })],
    ['an event that was not published', event(3, 1)],
    ['an event with the id of another', event(2, 2, { id: 'evt_2_1' })],
    ['an event with another subchannel', event(2, 1, { subchannelId: 9 })],
  ])('%s', (_, received) => {
    expect(judged([...webhooks, received]).unexpected).toHaveLength(1);
  });

  test('what the subscriber has noticed by itself', () => {
    expect(subscriberFindings(judged(webhooks, ['a signature is refused']))).toEqual(['all: a signature is refused']);
  });
});

test('an event is read from its JSON', () => {
  const json = { eventId: 'evt_1_1', ticketId: 1, version: 1, type: 'ticket.updated', cause: 'request' };
  expect(parseTicketEvent({ ...json, subchannelId: null })).toEqual(event(1, 1));
  expect(parseTicketEvent({ ...json, subchannelId: 4 })?.subchannelId).toBe(4);
  expect(parseTicketEvent({ ...json, eventId: undefined })).toBeUndefined();
});
