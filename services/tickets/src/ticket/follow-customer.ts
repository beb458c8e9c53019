import type { CustomerDirectory } from '../customer/directory.ts';
import { firstMessageOf, identify } from '../customer/identify.ts';
import { confirmedLegitimation } from '../customer/rules/legitimation.ts';
import type { ChangePlan } from './commit.ts';
import type { TicketInput, TicketState } from './rules/fields.ts';

/**
 * Makes `identify` of a plan that sets `input`: if that sets the customer or the contract of a ticket, the fields that
 * follow are the customer of the contract, the score, and the copy of the customer. A person who sets the contract
 * confirms it.
 *
 * Errors of the result: store_unavailable. Source: docs/reference/api.md, Legitimation.
 */
export function followCustomer(
  customers: CustomerDirectory,
  input: TicketInput,
  isHuman: boolean,
): ChangePlan['identify'] {
  if (input.contractId === undefined && input.customerId === undefined) return undefined;
  const deadline = customers.deadline();
  return (ticket) => fieldsThatFollow(customers, ticket, input, { isHuman, deadline });
}

async function fieldsThatFollow(
  customers: CustomerDirectory,
  ticket: TicketState,
  input: TicketInput,
  { isHuman, deadline }: { isHuman: boolean; deadline: number },
): Promise<TicketInput> {
  const changed = { ...ticket, ...input };
  // The customer of the contract is not looked for, because the request says that there is no customer.
  if (input.customerId === null) changed.contractId = null;
  const givesContract = (input.contractId ?? null) !== null;
  const followsContract = givesContract && input.customerId === undefined;
  const { input: identified } = await identify({ customers }, changed, firstMessageOf(changed), {
    mode: 'cached',
    lookFor: followsContract ? 'customerOfContract' : 'nobody',
    deadline,
    current: input.contractId === null ? 0 : ticket.customerLegitimation,
  });
  // Customer and contract change only if the request says so, apart from the customer of a new contract.
  const { contractId: _, customerId, ...following } = identified;
  return {
    ...following,
    ...(followsContract && customerId !== undefined ? { customerId } : {}),
    ...(givesContract && isHuman ? { customerLegitimation: confirmedLegitimation } : {}),
  };
}
