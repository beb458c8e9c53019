import { Health } from '@ticketing/contracts/grpc/health/v1/health_pb.ts';
import { ConfigurationService } from '@ticketing/contracts/ticketing/settings/v1/configuration_service_pb.ts';
import { SnapshotService } from '@ticketing/contracts/ticketing/tickets/v1/snapshot_service_pb.ts';
import { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { describe, expect, test } from 'vitest';
import { checkAccess, requireAccessRules } from './access.ts';
import { serviceCaller } from './caller.ts';

const person = { ...serviceCaller('x'), kind: 'user' as const, service: null, profileId: 7, roleId: 2 };
const { createTag, listTags } = TagService.method;

describe('the start of a service', () => {
  // spec: 37.10
  // guarantee: C13
  test('is refused while a method declares no access rule, and the error names the method', () => {
    expect(() => requireAccessRules({ name: 'tickets', contracts: [TagService, Health] })).toThrow(
      /rpc grpc\.health\.v1\.Health\.Check/,
    );
  });
  test('is allowed when every method declares one', () =>
    expect(() => requireAccessRules({ name: 'tickets', contracts: [TagService, SnapshotService] })).not.toThrow());
  // guarantee: C12
  test('is refused while a method for services names one that does not call it by the description', () => {
    expect(() => requireAccessRules({ name: 'knowledge', contracts: [SnapshotService] })).toThrow(
      /do not fit the description of the system: rpc .*GetTicketSnapshots/,
    );
  });
});

describe('a method that requires a right', () => {
  // asvs: 10.3.2
  test('may be called with that right, and by admins', () => {
    expect(() => checkAccess(createTag, { ...person, permissions: ['manageTags'] })).not.toThrow();
    expect(() => checkAccess(createTag, { ...person, roleId: 1 })).not.toThrow();
  });
  test.each([
    ['without that right', person],
    ['with other rights', { ...person, permissions: ['manageSkills', 'managetags', 'manageTags '] }],
    ['by a service', serviceCaller('intents')],
  ])('may not be called %s', (_, caller) => {
    expect(() => checkAccess(createTag, caller)).toThrow(
      expect.objectContaining({ code: 'permission_denied', reason: 'missing_right' }),
    );
  });
});

describe('a method for services', () => {
  test('may be called by those that its contract names, on their own behalf', () => {
    expect(() => checkAccess(ConfigurationService.method.getSecrets, serviceCaller('intents'))).not.toThrow();
  });
  test.each([
    ['another service', serviceCaller('knowledge')],
    ['an administrator', { ...person, roleId: 1 }],
    ['a person who is named like a service', { ...person, name: 'intents' }],
  ])('may not be called by %s', (_, caller) => {
    expect(() => checkAccess(ConfigurationService.method.getSecrets, caller)).toThrow(
      expect.objectContaining({ code: 'permission_denied', reason: 'services_only' }),
    );
  });
});

test('a method that requires only a valid token may be called by people and services', () => {
  expect(() => checkAccess(listTags, person)).not.toThrow();
  expect(() => checkAccess(listTags, serviceCaller('intents'))).not.toThrow();
});

// asvs: 8.3.1
test('a method without an access rule may be called by nobody, not even by an admin', () => {
  expect(() => checkAccess(Health.method.check, { ...person, roleId: 1 })).toThrow(
    expect.objectContaining({ reason: 'no_access_rule' }),
  );
});
