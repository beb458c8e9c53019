import { expect, test } from 'vitest';
import { addDelivery, type LogVerdict } from './delivery-log.ts';

const wiped = { status: 200, responseStart: null, address: null };
const isDeleted = (id: number) => id === 2;

function toVerdict(delivery: object): LogVerdict {
  const verdict: LogVerdict = { responsesShown: 0, wrong: [] };
  addDelivery(
    verdict,
    'all',
    { id: 'dlv_1', ticketId: 1, status: 'delivered', attempts: [wiped], ...delivery },
    isDeleted,
  );
  return verdict;
}

test('a delivery must be made', () => {
  expect(toVerdict({})).toEqual({ responsesShown: 0, wrong: [] });
  expect(toVerdict({ status: 'retrying' }).wrong).toEqual(['all: delivery dlv_1 is retrying']);
});

test.each([{ responseStart: 'ok' }, { responseStart: '', address: '127.0.0.1' }])(
  'a delivery may show %j, but not of a deleted ticket',
  (shown) => {
    const attempts = [wiped, { ...wiped, ...shown }];
    expect(toVerdict({ attempts })).toEqual({ responsesShown: 1, wrong: [] });
    expect(toVerdict({ attempts, ticketId: 2 })).toEqual({
      responsesShown: 1,
      wrong: ['all: delivery dlv_1 shows a response or an address of the deleted ticket 2'],
    });
    expect(toVerdict({ ticketId: 2 }).wrong).toEqual([]);
  },
);
