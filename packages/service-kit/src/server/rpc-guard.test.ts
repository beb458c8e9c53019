import { once } from 'node:events';
import { connect } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { Health } from '@ticketing/contracts/grpc/health/v1/health_pb.ts';
import { expect, test } from 'vitest';
import { defaultServerLimits } from '../config/server-limits.ts';
import { createHttpServer } from './http-server.ts';
import { guardRpcs, type RpcGuardOptions } from './rpc-guard.ts';

const path = '/grpc.health.v1.Health/Check';

// guarantee: A7
test('calls that come at once are admitted in many turns of the event loop, and others come in between', async () => {
  const app = createHttpServer({ http2: true });
  const limits = { ...defaultServerLimits, anonymousCalls: 100 };
  // The methods of this contract need no credential.
  guardRpcs(app, { contracts: [Health], limits } as unknown as RpcGuardOptions);
  let turn = 0;
  const admittedInTurn = new Map<number, number>();
  app.post(path, async () => {
    admittedInTurn.set(turn, (admittedInTurn.get(turn) ?? 0) + 1);
    return 'admitted';
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const countTurn = () => {
    turn += 1;
    timer = setImmediate(countTurn);
  };
  let timer = setImmediate(countTurn);
  const session = connect(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`);
  await once(session, 'connect');
  const streams = Array.from({ length: 80 }, () => session.request({ ':method': 'POST', ':path': path }).end());
  await Promise.all(streams.map(async (stream) => once(stream.resume(), 'close')));
  clearImmediate(timer);
  session.close();
  await app.close();
  const counts = [...admittedInTurn.values()];
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(80);
  // Four of them may be admitted as they arrive, and four more in the same turn of this count, which begins elsewhere.
  expect(Math.max(...counts)).toBeLessThanOrEqual(8);
});
