import { OrderByDirection } from '@ticketing/contracts/ticketing/api/v1/filter_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { expect, test } from 'vitest';
import { readOrder } from './read-order.ts';

const keys = new Map([
  ['t.id', {}],
  ['t.status', {}],
]);
const defaults = { key: 't.id', prefix: 't.' };

test('is descending by the default key if the request sets no order', () => {
  expect(readOrder({}, keys, defaults)).toEqual({ key: 't.id', direction: -1 });
});

test.each(['t.status', 'status'])('finds the key of %j', (orderByField) => {
  const request = { orderByField, orderByDirection: OrderByDirection.ASC };
  expect(readOrder(request, keys, defaults)).toEqual({ key: 't.status', direction: 1 });
});

test('refuses an unknown key, and lists those that are known', () => {
  const read = () => readOrder({ orderByField: 'subject' }, keys, defaults);
  expect(read).toThrow(DomainError);
  expect(read).toThrow(
    expect.objectContaining({
      violations: [{ pointer: '#/orderByField', code: 'unknown_order', detail: 'must be one of: t.id, t.status' }],
    }),
  );
});
