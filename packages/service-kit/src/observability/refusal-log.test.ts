import { DomainError } from '@ticketing/errors/domain-error.ts';
import { createLogger } from '@ticketing/runtime/logger.ts';
import { expect, test } from 'vitest';
import { serviceCaller } from '../identity/caller.ts';
import { refusalLog } from './refusal-log.ts';

function logged() {
  const lines: Record<string, unknown>[] = [];
  let now = 0;
  const log = createLogger('test', 'info', { write: (line: string) => void lines.push(JSON.parse(line)) });
  return { lines, refused: refusalLog(log, () => now), later: () => (now += 60_000) };
}

const of = (address: string) => ({ route: 'GET /ticket', address, caller: serviceCaller('tickets'), traceId: 'abc' });
const unauthenticated = new DomainError('unauthenticated', 'invalid_token', 'The token does not verify.');

// asvs: 16.4.1
test('a refusal is a line with its reason, route, caller and address', () => {
  const { lines, refused } = logged();
  refused(unauthenticated, { ...of('192.0.2.1'), caller: undefined });
  refused(new DomainError('permission_denied', 'missing_right', 'x'), of('192.0.2.1'));
  refused(new DomainError('resource_exhausted', 'rate_limited', 'x'), of('192.0.2.1'));
  const common = {
    level: 30,
    msg: 'a request was refused',
    route: 'GET /ticket',
    address: '192.0.2.1',
    traceId: 'abc',
  };
  expect(lines).toMatchObject([
    { ...common, reason: 'invalid_token' },
    { ...common, reason: 'missing_right', caller: 'service tickets' },
    { ...common, reason: 'rate_limited' },
  ]);
  expect(lines[0]).not.toHaveProperty('caller');
});

test('what the client got wrong otherwise, and what failed, is no refusal', () => {
  const { lines, refused } = logged();
  refused(new DomainError('invalid_argument', 'invalid_input', 'x'), of('192.0.2.1'));
  refused(new DomainError('not_found', 'ticket_not_found', 'x'), of('192.0.2.1'));
  refused(new DomainError('resource_exhausted', 'body_too_large', 'x'), of('192.0.2.1'));
  refused(new DomainError('internal', 'internal', 'x'), of('192.0.2.1'));
  expect(lines).toEqual([]);
});

// asvs: 16.3.3
test('an address adds ten lines a minute for a reason, of which the last says so; other addresses are logged', () => {
  const { lines, refused, later } = logged();
  for (let nth = 1; nth <= 100; nth++) refused(unauthenticated, of('192.0.2.1'));
  expect(lines).toHaveLength(10);
  expect(lines.map((line) => line.furtherOnesAreCountedOnly ?? false)).toEqual([...Array(9).fill(false), true]);
  refused(unauthenticated, of('192.0.2.2'));
  expect(lines).toHaveLength(11);
  later();
  refused(unauthenticated, of('192.0.2.1'));
  expect(lines).toHaveLength(12);
});

test('all addresses together add 600 lines a minute', () => {
  const { lines, refused } = logged();
  for (let nth = 0; nth <= 600; nth++) refused(unauthenticated, of(`10.0.${nth >> 8}.${nth & 255}`));
  expect(lines).toHaveLength(600);
  expect(lines.at(-1)).toHaveProperty('furtherOnesAreCountedOnly', true);
});
