import { Code, ConnectError } from '@connectrpc/connect';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { mongo } from 'mongoose';
import { expect, test } from 'vitest';
import { isStoreOutage, isTransient } from './transient-error.ts';

const refused = (code: Code) => new DomainError('internal', 'internal', 'x', { cause: new ConnectError('x', code) });

test.each([
  ['an unreachable database', new mongo.MongoNetworkError('connect ECONNREFUSED')],
  ['a database without space', new mongo.MongoServerError({ code: 14_031, message: 'disk full' })],
  ['an unavailable dependency', new DomainError('unavailable', 'dependency_unavailable', 'x')],
  ['a canceled call', new DomainError('canceled', 'canceled', 'x')],
  ['a service that does not accept the token of this one', refused(Code.Unauthenticated)],
  ['a service that gives the token of this one no right', refused(Code.PermissionDenied)],
])('%s is transient', (_, error) => {
  expect(isTransient(error)).toBe(true);
});

test.each([
  ['a bug', new TypeError('no such field')],
  ['a dependency that is too slow', new DomainError('deadline_exceeded', 'deadline_exceeded', 'x')],
  ['a missing ticket', new DomainError('not_found', 'ticket_not_found', 'x')],
  ['a failure of another service', refused(Code.Internal)],
  ['no permission for the caller', new DomainError('permission_denied', 'forbidden', 'x')],
  ['a thrown text', 'unavailable'],
])('%s is not transient', (_, error) => {
  expect(isTransient(error)).toBe(false);
});

test('a database that is unavailable or full is an outage of the store, and nothing else is', () => {
  const isOutage = (reason: string) => isStoreOutage(new DomainError('unavailable', reason, 'x'));
  expect(['store_unavailable', 'storage_full', 'bus_unavailable'].map(isOutage)).toEqual([true, true, false]);
});
