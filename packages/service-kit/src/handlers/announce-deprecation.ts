import { deprecatedSince, deprecationCheck } from '@ticketing/rest/codec/deprecation.ts';
import type { ServiceImplementation } from '@ticketing/rest/routes/rest-api.ts';
import type { Call } from '../call/call.ts';

/**
 * Adds the header `Deprecation` to the responses to requests that use a deprecated field.
 *
 * Source: docs/reference/api.md, Deprecation.
 */
export function announceDeprecation(
  implementations: readonly ServiceImplementation<Call>[],
): ServiceImplementation<Call>[] {
  return implementations.map(({ handlers, ...rest }) => ({
    ...rest,
    handlers: new Map(
      [...handlers].map(([method, handler]) => {
        const usesDeprecated = deprecationCheck(method.input);
        if (!usesDeprecated) return [method, handler];
        return [
          method,
          (call, request) => {
            if (usesDeprecated(request)) call.setResponseHeader('deprecation', deprecatedSince);
            return handler(call, request);
          },
        ];
      }),
    ),
  }));
}
