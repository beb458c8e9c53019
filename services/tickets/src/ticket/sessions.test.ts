import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { ListSessionsResponseSchema } from '@ticketing/contracts/ticketing/intents/v1/session_service_pb.ts';
import { createLogger } from '@ticketing/runtime/logger.ts';
import { continueTrace } from '@ticketing/runtime/trace.ts';
import { serviceCaller } from '@ticketing/service-kit/identity/caller.ts';
import { expect, test } from 'vitest';
import { openSessions } from './sessions.ts';

const call = (signal = new AbortController().signal) => ({
  caller: serviceCaller('test'),
  trace: continueTrace(undefined),
  signal,
  log: createLogger('test', 'silent'),
});

/** Sessions of a service that fails, or has one session, with a clock. */
function sessionsWithClock() {
  const state = { time: 0, asked: 0, fails: true };
  const listSessions = async () => {
    state.asked += 1;
    if (state.fails) throw new ConnectError('unavailable', Code.Unavailable);
    return create(ListSessionsResponseSchema, { sessions: [{ id: 'a' }] });
  };
  return {
    state,
    sessions: openSessions(
      () => ({ listSessions }),
      () => state.time,
    ),
  };
}

// guarantee: F17
test('after a failure the sessions are not asked for again for a second', async () => {
  const { state, sessions } = sessionsWithClock();
  const read = async () => (await sessions.ofTicket(call(), 1))?.length;
  expect(await read()).toBeUndefined();
  state.fails = false;
  state.time = 999;
  expect(await read()).toBeUndefined();
  expect(state.asked).toBe(1);
  state.time = 1000;
  expect(await read()).toBe(1);
  expect(state.asked).toBe(2);
});

test('a read whose client has gone ends, and says nothing about the service', async () => {
  const { state, sessions } = sessionsWithClock();
  await expect(sessions.ofTicket(call(AbortSignal.abort(new Error('gone'))), 1)).rejects.toThrow('gone');
  state.fails = false;
  expect(await sessions.ofTicket(call(), 1)).toHaveLength(1);
});
