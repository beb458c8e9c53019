import type { DescMethod, DescMethodServerStreaming, DescMethodUnary, Message } from '@bufbuild/protobuf';
import type { ConnectRouter, HandlerContext } from '@connectrpc/connect';
import { toConnectError } from '@ticketing/errors/error-table.ts';
import { toDomainError, translateUpstreamErrors } from '@ticketing/errors/translate-error.ts';
import { readMaxBodyBytes } from '@ticketing/rest/codec/options.ts';
import type { ServiceImplementation } from '@ticketing/rest/routes/rest-api.ts';
import type { Call } from '../call/call.ts';
import { reportRpcError } from './report-server-error.ts';
import { requireValid } from './require-valid.ts';
import { findCall } from './rpc-interceptor.ts';

/** Routes the RPCs of services to their handlers. */
export function rpcRoutes(implementations: readonly ServiceImplementation<Call>[]): (router: ConnectRouter) => void {
  return (router) => {
    for (const { handlers, streams } of implementations) {
      for (const [method, handler] of streams) {
        router.rpc(method as DescMethodServerStreaming, (message, context) => {
          const call = admittedCall(method, context);
          return streamMessages(method, message, call, () => handler(call, message));
        });
      }
      for (const [method, handler] of handlers) {
        router.rpc(
          method as DescMethodUnary,
          (message, context) => {
            const call = admittedCall(method, context);
            return translateUpstreamErrors(() => handler(call, message));
          },
          { readMaxBytes: readMaxBodyBytes(method) },
        );
      }
    }
  };
}

function admittedCall(method: DescMethod, context: HandlerContext): Call {
  const call = findCall(context.values);
  if (!call) throw new Error(`${method.toString()} was not admitted`);
  return call;
}

/**
 * Returns the messages of a stream. The interceptor has returned before they are read, so this validates and reports itself.
 */
async function* streamMessages(
  method: DescMethod,
  request: Message,
  call: Call,
  handle: () => AsyncIterable<Message>,
): AsyncGenerator<Message> {
  try {
    requireValid(method, request);
    yield* handle();
  } catch (thrown) {
    const error = toDomainError(thrown);
    reportRpcError(error, call.log);
    throw toConnectError(error);
  }
}
