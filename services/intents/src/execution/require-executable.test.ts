import { type Caller, profileKinds, serviceCaller } from '@ticketing/service-kit/identity/caller.ts';
import { expect, test } from 'vitest';
import { allowsClosed, executableByDefault } from '../agent/rules/agent.ts';
import { type ExecutorState, executorTypes } from '../agent/rules/executor.ts';
import { requireExecutable } from './require-executable.ts';

const types = Object.keys(executorTypes) as ExecutorState['type'][];
const caller = (changes: Partial<Caller>): Caller => ({ ...serviceCaller('test'), ...changes });

/** The kinds of profiles that an AI agent refuses. */
function refusedKinds(type: ExecutorState['type'], kinds: readonly string[] = []): string[] {
  const agent = {
    ...{ enabled: true, executor: { type }, allowClosed: null },
    executableBy: { ...executableByDefault, kinds },
  };
  return profileKinds.filter((kind) => {
    try {
      requireExecutable(agent, caller({ kind }));
      return false;
    } catch {
      return true;
    }
  });
}

test.each(types)('by default %s can be executed by all, but a backend system is not called by vendors', (type) => {
  expect(refusedKinds(type)).toEqual(type === 'http' ? ['vendor', 'vendorPartner'] : []);
});

test.each(types)('the kinds of an AI agent replace the default of %s', (type) => {
  expect(refusedKinds(type, ['vendor', 'system'])).toEqual(['user', 'vendorPartner', 'serviceWorker', 'codeExecutor']);
});

test('a right is needed besides the kind, which admins have, and the system needs neither', () => {
  const agent = { enabled: true, executor: { type: 'http' as const }, allowClosed: null };
  const executableBy = { kinds: ['user'], permission: 'executePayouts' };
  const execute = (who: Caller | null) => () => requireExecutable({ ...agent, executableBy }, who);
  expect(execute(caller({ kind: 'user', permissions: ['deleteTicket'] }))).toThrow(
    'The right executePayouts is missing',
  );
  expect(execute(caller({ kind: 'vendor', permissions: ['executePayouts'] }))).toThrow('Callers of the kind vendor');
  expect(execute(caller({ kind: 'vendor', roleId: 1 }))).toThrow('Callers of the kind vendor');
  for (const who of [
    null,
    caller({ kind: 'user', permissions: ['executePayouts'] }),
    caller({ kind: 'user', roleId: 1 }),
  ])
    expect(execute(who)).not.toThrow();
});

test('a disabled AI agent is executed by nobody', () => {
  const agent = { enabled: false, executor: { type: 'none' as const }, allowClosed: null };
  for (const who of [null, caller({ kind: 'user', roleId: 1 })])
    expect(() => requireExecutable({ ...agent, executableBy: executableByDefault }, who)).toThrow('disabled');
});

test('by default only an executor that calls a backend system needs an open ticket', () => {
  const allowed = (allowClosed: boolean | null) =>
    types.filter((type) => allowsClosed({ executor: { type }, allowClosed }));
  expect(allowed(null)).toEqual(types.filter((type) => type !== 'http'));
  expect([allowed(true), allowed(false)]).toEqual([types, []]);
});
