import type { Customer as CustomerMessage } from '@ticketing/contracts/ticketing/tickets/v1/customer_pb.ts';
import type {
  ImportCustomersRequest,
  ImportCustomersResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/customer_service_pb.ts';
import { invalidInput, type Violation } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { unknownTags } from '../tag/rules.ts';
import type { TagStore } from '../tag/store.ts';
import { givenCustomer } from './erp/codec.ts';
import type { EmbeddedErp } from './erp/embedded.ts';

/**
 * Adds customers and contracts to the embedded ERP system.
 *
 * Errors: unknown_tag, duplicate_customer, duplicate_contract, customer_mismatch, too_large, each with a pointer.
 * Source: docs/reference/api.md, Customers and contracts.
 */
export async function importCustomers(
  { tags, embeddedErp }: { tags: Pick<TagStore, 'tree'>; embeddedErp: EmbeddedErp },
  _call: Call,
  request: ImportCustomersRequest,
): Promise<ImportCustomersResponse> {
  const tree = await tags.tree();
  const seen = new Set<string>();
  const violations: Violation[] = [];
  const customers = request.customers.map((message, index) => {
    const pointer = `#/customers/${index}`;
    if (seen.has(message.id)) {
      violations.push({ pointer: `${pointer}/id`, code: 'duplicate_customer', detail: 'comes twice' });
    }
    seen.add(message.id);
    violations.push(...unknownTags(tree, message.tagIds, `${pointer}/tagIds`), ...contractViolations(message, pointer));
    return givenCustomer(message);
  });
  if (violations.length > 0) throw invalidInput(violations);
  const outcome = await embeddedErp.add(customers);
  return { $typeName: 'ticketing.tickets.v1.ImportCustomersResponse', ...outcome };
}

function contractViolations({ id, contracts }: CustomerMessage, pointer: string): Violation[] {
  const seen = new Set<string>();
  return contracts.flatMap((contract, index): Violation[] => {
    const place = `${pointer}/contracts/${index}`;
    const isRepeated = seen.has(contract.id);
    seen.add(contract.id);
    if (isRepeated) return [{ pointer: `${place}/id`, code: 'duplicate_contract', detail: 'comes twice' }];
    if (!contract.customerId || contract.customerId === id) return [];
    return [{ pointer: `${place}/customerId`, code: 'customer_mismatch', detail: 'is not the id of the customer' }];
  });
}
