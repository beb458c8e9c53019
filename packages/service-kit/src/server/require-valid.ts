import type { DescMethod, Message } from '@bufbuild/protobuf';
import { invalidInput } from '@ticketing/errors/domain-error.ts';
import { messageValidator } from '@ticketing/rest/codec/rules.ts';

/** Checks the request of an RPC against the rules of its contract. Errors: invalid_input, or the reason of the only violation. */
export function requireValid(method: DescMethod, message: Message): void {
  const violations = messageValidator(method.input)(message);
  if (violations.length > 0) throw invalidInput(violations);
}
