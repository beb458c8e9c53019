import type { DescMethod } from '@bufbuild/protobuf';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { readAccessRule, serviceCallers } from '@ticketing/rest/codec/options.ts';
import { doesCall, type ServiceEntry } from '@ticketing/system/services.ts';
import { type Caller, hasRight } from './caller.ts';

/**
 * Throws an error that names the methods without an access rule, and those for services that name no services, or one
 * that does not call this one: no service starts with such a method.
 */
export function requireAccessRules({ name, contracts }: Pick<ServiceEntry, 'name' | 'contracts'>): void {
  const methods = contracts.flatMap((contract) => contract.methods);
  const undeclared = methods.filter((method) => readAccessRule(method) === undefined);
  if (undeclared.length > 0) throw new Error(`These methods declare no access rule: ${undeclared.join(', ')}`);
  const misdeclared = methods.filter((method) => {
    const callers = serviceCallers(method);
    if (readAccessRule(method)?.case !== 'service') return callers.length > 0;
    return callers.length === 0 || !callers.every((caller) => doesCall(caller, name));
  });
  if (misdeclared.length > 0) {
    throw new Error(`The callers of these methods do not fit the description of the system: ${misdeclared.join(', ')}`);
  }
}

/**
 * Checks that the caller may call the method, by the access rule of its contract.
 *
 * Errors: missing_right, services_only; no_access_rule if the contract has none.
 */
export function checkAccess(method: DescMethod, caller: Caller): void {
  const access = readAccessRule(method);
  switch (access?.case) {
    case 'authenticated':
      return;
    case 'right':
      if (hasRight(caller, access.value)) return;
      throw new DomainError('permission_denied', 'missing_right', `The right ${access.value} is missing.`);
    case 'service':
      if (caller.service !== null && serviceCallers(method).includes(caller.service)) return;
      throw new DomainError('permission_denied', 'services_only', 'Only certain services may call this.');
    default:
      throw new DomainError('permission_denied', 'no_access_rule', 'Nobody may call this.');
  }
}
