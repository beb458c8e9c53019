import { create, type Message } from '@bufbuild/protobuf';
import {
  ExportReportingTicketsRequestSchema,
  ExportReportingTicketsResponseSchema,
  ExportService,
} from '@ticketing/contracts/ticketing/reporting/v1/export_service_pb.ts';
import { GetTagResponseSchema, TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { implement } from '@ticketing/rest/routes/rest-api.ts';
import { testCaller } from '@ticketing/testkit/test-identity.ts';
import { expect, test } from 'vitest';
import type { Call } from '../call/call.ts';
import { defaultServerLimits } from '../config/server-limits.ts';
import { limitHandlers } from './limit-handlers.ts';

function serve() {
  const ends: (() => void)[] = [];
  const given: Call[] = [];
  const getTag = async (_context: object, call: Call) => {
    given.push(call);
    await new Promise<void>((resolve) => ends.push(resolve));
    return create(GetTagResponseSchema);
  };
  const [limited] = limitHandlers(
    [implement<typeof TagService, object, Call>(TagService, {}, { getTag })],
    defaultServerLimits,
  );
  const handler = limited?.handlers.get(TagService.method.getTag);
  const run = (profileId: number, onEnd: (done: () => void) => void = () => undefined) =>
    handler?.({ caller: testCaller({ profileId }), onEnd } as Call, create(GetTagResponseSchema)) ?? Promise.reject();
  return { run, ends, given };
}

// guarantee: B7
// asvs: 15.2.2
test('a person may have 32 handlers running, also if its clients have gone; others are not affected', async () => {
  const { run, ends } = serve();
  const runs = Array.from({ length: 32 }, () => run(1));
  await expect(run(1)).rejects.toMatchObject({ reason: 'too_many_at_once' });
  const other = run(2);
  for (const end of ends) end();
  await Promise.all([...runs, other]);
  const next = run(1);
  ends.at(-1)?.();
  await next;
});

// guarantee: B7
test('what a call holds is given back when its handler has ended, not when its client has gone', async () => {
  const { run, ends, given } = serve();
  // The client has gone already.
  const running = run(1, (done) => done());
  let released = 0;
  given[0]?.onEnd(() => released++);
  expect(released).toBe(0);
  ends[0]?.();
  await running;
  expect(released).toBe(1);
  given[0]?.onEnd(() => released++);
  expect(released).toBe(2);
});

// guarantee: B7
test('a stream runs until it has been read, or its reader stops; a person may have 32', async () => {
  const response = create(ExportReportingTicketsResponseSchema);
  const exportReportingTickets = async function* () {
    yield response;
    yield response;
  };
  const [limited] = limitHandlers([implement(ExportService, {}, { exportReportingTickets })], defaultServerLimits);
  const stream = limited?.streams.get(ExportService.method.exportReportingTickets);
  const open = () => {
    const call = { caller: testCaller({ profileId: 1 }), onEnd: () => undefined } as unknown as Call;
    return stream?.(call, create(ExportReportingTicketsRequestSchema)) as AsyncGenerator<Message>;
  };
  const streams = Array.from({ length: 32 }, open);
  for (const one of streams) await one.next();
  const refused = () => expect(open().next()).rejects.toMatchObject({ reason: 'too_many_at_once' });
  await refused();
  await streams[0]?.return(undefined);
  const next = open();
  await next.next();
  await refused();
  for await (const _message of next);
  expect((await open().next()).done).toBe(false);
});
