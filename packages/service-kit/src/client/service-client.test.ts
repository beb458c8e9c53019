import { create } from '@bufbuild/protobuf';
import { Code, ConnectError, createRouterTransport } from '@connectrpc/connect';
import {
  ConfirmErasureResponseSchema,
  SnapshotService,
} from '@ticketing/contracts/ticketing/tickets/v1/snapshot_service_pb.ts';
import { ListTagsResponseSchema, TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { continueTrace } from '@ticketing/runtime/trace.ts';
import type { Tracer } from '@ticketing/runtime/tracer.ts';
import { testCaller } from '@ticketing/testkit/test-identity.ts';
import { expect, test } from 'vitest';
import type { Caller } from '../identity/caller.ts';
import { serviceClient } from './service-client.ts';

/** A stub of the tickets service that records its calls. It responds at once, or waits until the call is aborted. */
function stubTickets(waitsForAbort = false, tracer?: Tracer, forwardsCallers = true) {
  const seen: Headers[] = [];
  const minted: [string, Caller | undefined][] = [];
  const transport = createRouterTransport(({ service }) => {
    service(TagService, {
      async listTags(_, { requestHeader, signal }) {
        seen.push(requestHeader);
        if (waitsForAbort)
          await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
        return create(ListTagsResponseSchema, { total: 3 });
      },
    });
  });
  const tokens = {
    async mint(audience: string, caller?: Caller) {
      minted.push([audience, caller]);
      return `token of ${caller?.profileId ?? 'the service'}`;
    },
  };
  return {
    seen,
    minted,
    client: serviceClient(TagService, { audience: 'tickets', transport, tokens, forwardsCallers, tracer }),
  };
}

test('a client for a call acts on behalf of its caller, in its trace', async () => {
  const { seen, minted, client } = stubTickets();
  const call = { caller: testCaller({}), trace: continueTrace(undefined), signal: new AbortController().signal };
  const headers = { 'x-kept': 'yes', authorization: 'Bearer of somebody else' };
  expect((await client(call).listTags({}, { headers })).total).toBe(3);
  expect(minted).toEqual([['tickets', call.caller]]);
  const [sent] = seen;
  expect(sent?.get('authorization')).toBe(`Bearer token of ${call.caller.profileId}`);
  expect(sent?.get('traceparent')).toBe(`00-${call.trace.traceId}-${call.trace.spanId}-00`);
  expect(sent?.get('x-kept')).toBe('yes');
});

test('what only services may call is called by the service itself, also for a call with a caller', async () => {
  const minted: (Caller | undefined)[] = [];
  const transport = createRouterTransport(({ service }) => {
    service(SnapshotService, { confirmErasure: () => create(ConfirmErasureResponseSchema) });
  });
  const mint = async (_audience: string, caller?: Caller) => String(minted.push(caller));
  const client = serviceClient(SnapshotService, {
    audience: 'tickets',
    transport,
    tokens: { mint },
    forwardsCallers: true,
  });
  const call = { caller: testCaller({}), trace: continueTrace(undefined), signal: new AbortController().signal };
  await client(call).confirmErasure({ ticketId: 1 });
  expect(minted).toEqual([undefined]);
});

test('a service to which no callers are forwarded is called by the service itself', async () => {
  const { minted, client } = stubTickets(false, undefined, false);
  const call = { caller: testCaller({}), trace: continueTrace(undefined), signal: new AbortController().signal };
  await client(call).listTags({});
  expect(minted).toEqual([['tickets', undefined]]);
});

test.each([
  [undefined, '01'],
  [true, '01'],
  [false, '00'],
])(
  'the called service learns whether this one records the trace (%s), else what the caller has said',
  async (isRecorded, flags) => {
    const tracer = { isSampled: () => isRecorded, record: () => undefined } as unknown as Tracer;
    const { seen, client } = stubTickets(false, isRecorded === undefined ? undefined : tracer);
    const trace = { ...continueTrace(undefined), isSampled: true };
    await client({ trace, signal: new AbortController().signal }).listTags({});
    expect(seen[0]?.get('traceparent')).toMatch(new RegExp(`^00-${trace.traceId}-[0-9a-f]{16}-${flags}$`));
  },
);

test('a client without a call acts on behalf of the service itself, in a trace of its own', async () => {
  const { seen, minted, client } = stubTickets();
  await client().listTags({});
  await client().listTags({});
  expect(minted).toEqual([
    ['tickets', undefined],
    ['tickets', undefined],
  ]);
  const [first, second] = seen.map((headers) => headers.get('traceparent'));
  expect(first).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
  expect(second).not.toBe(first);
});

test.each(['call', 'client call'] as const)('a request is aborted by the signal of the %s', async (aborted) => {
  const { seen, client } = stubTickets(true);
  const [ofCall, ofClient] = [new AbortController(), new AbortController()];
  const call = { caller: testCaller({}), trace: continueTrace(undefined), signal: ofCall.signal };
  const response = client(call).listTags({}, { signal: ofClient.signal });
  const failed = expect(response).rejects.toSatisfy((error) => ConnectError.from(error).code === Code.Canceled);
  while (seen.length === 0) await new Promise((resolve) => setImmediate(resolve));
  (aborted === 'call' ? ofCall : ofClient).abort(new ConnectError('gone', Code.Canceled));
  await failed;
});
