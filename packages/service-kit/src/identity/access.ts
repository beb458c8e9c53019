import type { DescMethod, DescService } from '@bufbuild/protobuf';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { accessOf } from '@ticketing/rest/options.ts';
import { type Caller, hasRight } from './caller.ts';

/** Throws an error that names the methods without an access rule, so that no service starts with one. */
export function requireAccessRules(services: readonly DescService[]): void {
  const undeclared = services.flatMap((service) => service.methods).filter((method) => accessOf(method) === undefined);
  if (undeclared.length > 0) {
    throw new Error(
      `These methods declare no access rule: ${undeclared.map((method) => method.toString()).join(', ')}`,
    );
  }
}

/**
 * Checks that the caller may call the method, by the access rule of its contract.
 *
 * Errors: missing_right, services_only; no_access_rule if the contract has none.
 */
export function checkAccess(method: DescMethod, caller: Caller): void {
  const access = accessOf(method);
  switch (access?.case) {
    case 'authenticated':
      return;
    case 'right':
      if (hasRight(caller, access.value)) return;
      throw new DomainError('permission_denied', 'missing_right', `The right ${access.value} is missing.`);
    case 'service':
      if (caller.kind === 'service') return;
      throw new DomainError('permission_denied', 'services_only', 'Only services may call this.');
    default:
      throw new DomainError('permission_denied', 'no_access_rule', 'Nobody may call this.');
  }
}
