import { Health } from '@ticketing/contracts/grpc/health/v1/health_pb.ts';
import { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { describe, expect, test } from 'vitest';
import { checkAccess, requireAccessRules } from './access.ts';
import { serviceCaller } from './caller.ts';

const person = { ...serviceCaller('x'), kind: 'user' as const, service: null, profileId: 7, roleId: 2 };
const { createTag, listTags } = TagService.method;

describe('a start', () => {
  test('is refused while a method does not say who may call it, and names the method', () => {
    expect(() => requireAccessRules([TagService, Health])).toThrow(/rpc grpc\.health\.v1\.Health\.Check/);
  });
  test('goes on where all methods do', () => expect(() => requireAccessRules([TagService])).not.toThrow());
});

describe('a method that names a right', () => {
  test('may be called with it, and by admins', () => {
    expect(() => checkAccess(createTag, { ...person, permissions: ['manageTags'] })).not.toThrow();
    expect(() => checkAccess(createTag, { ...person, roleId: 1 })).not.toThrow();
  });
  test.each([
    ['without it', person],
    ['with another', { ...person, permissions: ['manageSkills', 'managetags', 'manageTags '] }],
    ['by a service', serviceCaller('intents')],
  ])('may not be called %s', (_, caller) => {
    expect(() => checkAccess(createTag, caller)).toThrow(
      expect.objectContaining({ code: 'permission_denied', reason: 'missing_right' }),
    );
  });
});

test('a method for every valid token may be called by all', () => {
  expect(() => checkAccess(listTags, person)).not.toThrow();
  expect(() => checkAccess(listTags, serviceCaller('intents'))).not.toThrow();
});

test('a method without a rule may be called by nobody, not even by an admin', () => {
  expect(() => checkAccess(Health.method.check, { ...person, roleId: 1 })).toThrow(
    expect.objectContaining({ reason: 'no_access_rule' }),
  );
});
