import { expect, test } from 'vitest';
import { beforeChange, DomainError, invalidInput, mayFollowChange, notFound } from './domain-error.ts';

const violation = (pointer: string, code: string) => ({ pointer, code, detail: 'is wrong' });

test('uses the code that all violations share as its reason', () => {
  expect(invalidInput([violation('#/a', 'wrong_type'), violation('#/b', 'wrong_type')]).reason).toBe('wrong_type');
});

test('is invalid_input if the codes of the violations differ, and states their number', () => {
  const error = invalidInput([violation('#/a', 'wrong_type'), violation('#/b', 'required')]);
  expect(error.reason).toBe('invalid_input');
  expect(error.message).toBe('2 parts of the request are not valid.');
  expect(error.violations).toHaveLength(2);
});

test('states the pointer and the detail of a single violation', () => {
  expect(invalidInput([violation('#/a', 'wrong_type')]).message).toBe('#/a: is wrong');
});

// spec: 39.2
test('names the missing thing in the reason', () => {
  const error = notFound('Ticket or attachment');
  expect([error.code, error.reason, error.message]).toEqual([
    'not_found',
    'ticket_or_attachment_not_found',
    'Ticket or attachment not found',
  ]);
});

test('keeps a cause only if there is one', () => {
  expect('cause' in new DomainError('internal', 'internal', 'x')).toBe(false);
  expect(new DomainError('internal', 'internal', 'x', { cause: 'y' }).cause).toBe('y');
});

test('an error of a dependency may follow a change, unless it is one that comes before any', () => {
  const error = new DomainError('unavailable', 'away', 'Later.', { retryAfterSeconds: 2 });
  const before = beforeChange(error);
  expect(before).toMatchObject({ code: 'unavailable', reason: 'away', message: 'Later.', retryAfterSeconds: 2 });
  expect([error, before, new Error('broken'), invalidInput([])].map(mayFollowChange)).toEqual([
    true,
    false,
    true,
    false,
  ]);
  expect(mayFollowChange(beforeChange(new Error('broken')))).toBe(true);
});
