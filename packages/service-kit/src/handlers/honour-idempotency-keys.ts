import { createHash, createHmac } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { type DescMethod, fromBinary, type Message, toBinary } from '@bufbuild/protobuf';
import { DomainError, mayFollowChange, notFound } from '@ticketing/errors/domain-error.ts';
import { takesIdempotencyKey } from '@ticketing/rest/codec/options.ts';
import { withoutShownOnce } from '@ticketing/rest/codec/shown-once.ts';
import { parseIdempotencyKey } from '@ticketing/rest/routes/idempotency-key.ts';
import type { ServiceImplementation } from '@ticketing/rest/routes/rest-api.ts';
import type {
  ClaimedRequest,
  IdempotencyStore,
  ResponseSubject,
} from '@ticketing/store/idempotency/idempotency-store.ts';
import { whileRenewing } from '@ticketing/store/leases/lease.ts';
import type { PageBudget } from '@ticketing/store/paging/page-budget.ts';
import type { Call } from '../call/call.ts';
import type { IdempotentRequest } from '../call/idempotent-request.ts';
import { callerKey, isHuman } from '../identity/caller.ts';

/**
 * Makes the handlers of every POST and PATCH that writes honour `Idempotency-Key`, for REST and RPC.
 *
 * A repeated request with the same key gets the first response again, with `Idempotency-Replayed: true` and without what
 * is shown only once. A request that is refused has changed nothing, and releases its key. A large response that is sent
 * again counts as a page.
 * Errors: invalid_idempotency_key, idempotency_key_reused, idempotency_key_running,
 * idempotency_budget_exceeded; too_much_at_once.
 * Source: docs/reference/api.md, Idempotency keys.
 */
export function honourIdempotencyKeys(
  implementations: readonly ServiceImplementation<Call>[],
  store: RequestRecords,
  pages: PageBudget,
): ServiceImplementation<Call>[] {
  return implementations.map(({ handlers, ...rest }) => ({
    ...rest,
    handlers: new Map(
      [...handlers].map(([method, handler]) => [
        method,
        takesIdempotencyKey(method) ? processOnce(method, handler, store, pages) : handler,
      ]),
    ),
  }));
}

/** The part of the store with which requests are recorded. */
type RequestRecords = Pick<IdempotencyStore, 'claim' | 'renew' | 'reserve' | 'complete' | 'release'>;

const renewMs = 3_000;
/** The most bytes of stored responses of a caller, in the proportion of the rate limits of people and machines. */
const maxBytes = { person: 256 * 1024 ** 2, machine: 25 * 1024 ** 3 };

type Handler = (call: Call, request: Message) => Promise<Message>;

function processOnce(method: DescMethod, handler: Handler, store: RequestRecords, pages: PageBudget): Handler {
  return async (call, request) => {
    const header = call.header('idempotency-key');
    if (header === undefined) return handler(call, request);
    const key = readKey(header);
    const fingerprint = await makeFingerprint(method, request, key);
    const name = callerKey(call.caller);
    const sender = {
      name: digest('caller', name),
      maxBytes: isHuman(call.caller) ? maxBytes.person : maxBytes.machine,
    };
    const found = await store.claim(digest(name, key), fingerprint, sender);
    if (found.state !== 'claimed') {
      if (found.fingerprint !== fingerprint) throw reused();
      if (found.state === 'erased') throw notFound(found.kind);
      if (found.state === 'running') throw running();
      await pages.take(name, found.response.length, call);
      call.setResponseHeader('idempotency-replayed', 'true');
      return fromBinary(method.output, found.response);
    }
    return handleClaimed(found.claim, { method, handler, store }, call, request);
  };
}

const hashedAtOnce = 4 * 1024 * 1024;

/**
 * Identifies a request, without storing anything of it. It is made with the key of the client, which is not stored, so that
 * nobody can try out secrets of a request against it. A large request is hashed in several turns of the event loop.
 */
async function makeFingerprint(method: DescMethod, request: Message, key: string): Promise<string> {
  const hash = createHmac('sha256', key).update(method.toString()).update('\0');
  // A large request takes a while to decode, and again to encode. The first wait ends in the same turn of the event loop;
  // timers and other connections have theirs in the second one.
  await setImmediate();
  await setImmediate();
  const bytes = toBinary(method.input, request);
  for (let start = 0; start < bytes.length; start += hashedAtOnce) {
    if (bytes.length > hashedAtOnce) await setImmediate();
    hash.update(bytes.subarray(start, start + hashedAtOnce));
  }
  return hash.digest('base64url');
}

async function handleClaimed(
  claim: ClaimedRequest,
  { method, handler, store }: { method: DescMethod; handler: Handler; store: RequestRecords },
  call: Call,
  request: Message,
): Promise<Message> {
  const subjects: ResponseSubject[] = [];
  const idempotency: IdempotentRequest = {
    id: claim.requestId,
    reserve: async (name, choose) => claim.reserved[name] ?? (await store.reserve(claim, name, await choose())),
    reserved: (name) => claim.reserved[name],
    addSubject: (subject) => subjects.push(subject),
  };
  let response: Message;
  try {
    const idempotentCall = Object.assign(Object.create(call), { idempotency }) as Call;
    response = await whileRenewing(
      () => store.renew(claim),
      renewMs,
      () => handler(idempotentCall, request),
    );
  } catch (error) {
    // After any other error something may have changed: the record stays, and a repetition takes the request over.
    if (!mayFollowChange(error)) await store.release(claim);
    throw error;
  }
  const stored = withoutShownOnce(method.output, response);
  await store.complete(claim, toBinary(method.output, stored), subjects);
  return response;
}

/** Reads a key that is written bare, or quoted as a string of RFC 8941. Errors: invalid_idempotency_key. */
function readKey(header: string): string {
  const key = parseIdempotencyKey(header);
  if (key !== undefined) return key;
  const detail = 'The header Idempotency-Key must be 1 to 255 visible ASCII characters, quoted or bare.';
  throw new DomainError('invalid_argument', 'invalid_idempotency_key', detail);
}

function digest(name: string, content: string): string {
  return createHash('sha256').update(name).update('\0').update(content).digest('base64url');
}

function reused(): DomainError {
  const detail = 'This Idempotency-Key was used for another request.';
  return new DomainError('invalid_argument', 'idempotency_key_reused', detail);
}

function running(): DomainError {
  const detail = 'The first request with this Idempotency-Key is still being processed.';
  return new DomainError('aborted', 'idempotency_key_running', detail, { retryAfterSeconds: 1 });
}
