import { createLogger } from '@ticketing/runtime/logger.ts';
import { continueTrace } from '@ticketing/runtime/trace.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { Caller } from '@ticketing/service-kit/identity/caller.ts';
import { testCaller } from './test-identity.ts';

/** A call for handlers that a test calls itself, with all that they may use. It has no headers, and never ends. */
export function testCall(caller: Partial<Caller> = {}, given: Partial<Call> = {}): Call {
  const { signal } = new AbortController();
  return {
    caller: testCaller(caller),
    api: 'rpc',
    trace: continueTrace(undefined),
    log: createLogger('test', 'silent'),
    signal,
    gone: signal,
    header: () => undefined,
    setResponseHeader: () => undefined,
    countAs: () => undefined,
    onEncoded: () => undefined,
    onEnd: () => undefined,
    endResponse: () => undefined,
    ...given,
  };
}
