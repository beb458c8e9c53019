import type { DescMethod, DescService } from '@bufbuild/protobuf';
import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt';

/** Returns the `methodConfig` of a gRPC service config: the retry policy of the methods that may be repeated. */
export function retryMethodConfig(services: readonly DescService[]): object[] {
  const name = services
    .flatMap((service) => service.methods)
    .filter(mayRepeat)
    .map((method) => ({ service: method.parent.typeName, method: method.name }));
  const retryPolicy = {
    maxAttempts: 3,
    initialBackoff: '0.05s',
    maxBackoff: '1s',
    backoffMultiplier: 4,
    retryableStatusCodes: ['UNAVAILABLE'],
  };
  return name.length === 0 ? [] : [{ name, retryPolicy }];
}

/** Whether the contract allows a call of the method to be sent again: it gives the method an `idempotency_level`. */
export function mayRepeat(method: DescMethod): boolean {
  return method.idempotency !== MethodOptions_IdempotencyLevel.IDEMPOTENCY_UNKNOWN;
}
