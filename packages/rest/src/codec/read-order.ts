import { OrderByDirection } from '@ticketing/contracts/ticketing/api/v1/filter_pb.ts';
import { invalidInput } from '@ticketing/errors/domain-error.ts';

/** The fields of a request that set the order of a list. */
export interface OrderRequest {
  orderByField?: string | undefined;
  orderByDirection?: OrderByDirection | undefined;
}

/** The order of a list whose request sets none. */
export interface OrderDefaults {
  key: string;
  /** Put before a key that is unknown without it. */
  prefix?: string;
}

/**
 * Reads the order that a request sets. `keys` are the allowed keys. The direction is descending by default.
 *
 * Errors: unknown_order.
 */
export function readOrder(
  { orderByField, orderByDirection }: OrderRequest,
  keys: ReadonlyMap<string, unknown>,
  { key: defaultKey, prefix = '' }: OrderDefaults,
): { key: string; direction: 1 | -1 } {
  const field = orderByField ?? defaultKey;
  const key = keys.has(field) ? field : prefix + field;
  if (!keys.has(key)) {
    const detail = `must be one of: ${[...keys.keys()].join(', ')}`;
    throw invalidInput([{ pointer: '#/orderByField', code: 'unknown_order', detail }]);
  }
  return { key, direction: orderByDirection === OrderByDirection.ASC ? 1 : -1 };
}
