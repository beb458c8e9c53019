import type { DescMethod, Message } from '@bufbuild/protobuf';
import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt';
import { readAccessRule, readAuditRule, readRestRule } from '@ticketing/rest/codec/options.ts';
import type { ServiceImplementation } from '@ticketing/rest/routes/rest-api.ts';
import { type FreeSpace, requireSpace } from '@ticketing/store/connection/free-space.ts';
import type { Call } from '../call/call.ts';
import { fieldReader } from '../call/request-fields.ts';

/**
 * Refuses the methods that write while the disk of the database is nearly full, for REST and RPC, before anything is
 * changed. Reads and deletions go on, and calls that only services make: they belong to something that was admitted
 * before, such as a deletion or an execution.
 *
 * Errors: storage_full.
 * Source: docs/decisions/0063-writes-stop-before-the-disk-is-full.md.
 */
export function refuseWhenFull(
  implementations: readonly ServiceImplementation<Call>[],
  space: Pick<FreeSpace, 'isFull'>,
): ServiceImplementation<Call>[] {
  return implementations.map(({ handlers, ...rest }) => ({
    ...rest,
    handlers: new Map(
      [...handlers].map(([method, handler]) => {
        if (!isWriting(method)) return [method, handler];
        const deletes = deletionReader(method);
        return [
          method,
          async (call, request) => {
            if (!deletes(request)) requireSpace(space);
            return handler(call, request);
          },
        ];
      }),
    ),
  }));
}

/** Whether a method may need more space: it changes something, and does not only delete. */
export function isWriting(method: DescMethod): boolean {
  const verb = readRestRule(method)?.method;
  return (
    method.idempotency !== MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS &&
    verb !== 'GET' &&
    verb !== 'DELETE' &&
    readAccessRule(method)?.case !== 'service'
  );
}

/** Recognises the requests of a method that delete by the value of a field. */
function deletionReader(method: DescMethod): (request: Message) => boolean {
  const text = readAuditRule(method)?.deletesBy ?? '';
  if (text === '') return () => false;
  const readFields = fieldReader(method.input, text);
  return (request) => readFields(request).includes(text);
}
