import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createClient, type Interceptor } from '@connectrpc/connect';
import { createConnectTransport, createGrpcTransport } from '@connectrpc/connect-node';
import { ExportFormat, ExportService } from '@ticketing/contracts/ticketing/reporting/v1/export_service_pb.ts';
import { testCaller } from '@ticketing/testkit/test-identity.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ReportingHarness, reporter, startHarness } from './harness.ts';

const mebibyte = 1024 * 1024;
let reporting: ReportingHarness;
const sockets: Socket[] = [];

beforeAll(async () => {
  reporting = await startHarness();
  reporting.settings.reportingPrivacyLevel = 'none';
  await reporting.put(1);
  const rows = reporting.database.collection<{ _id: number; rawData?: string }>('rows1');
  const row = await rows.findOne({ _id: 1 });
  for (let _id = 2; _id <= 31; _id++) await rows.insertOne({ ...row, _id, rawData: 'x'.repeat(mebibyte) });
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await reporting.stop();
});

const path = '/export/reporting_tickets?format=csv';
const statusOf = async (profileId: number) =>
  (await reporting.request(path, { caller: { ...reporter, profileId } })).status;

/** Requests an export and reads its first bytes only. */
async function readSlowly(profileId: number): Promise<Socket> {
  const token = await reporting.identity.internalToken('reporting', testCaller({ ...reporter, profileId }));
  const socket = connect(Number(new URL(reporting.url).port), '127.0.0.1');
  sockets.push(socket);
  socket.write(`GET ${path} HTTP/1.1\r\nhost: reporting\r\nauthorization: Bearer ${token}\r\n\r\n`);
  await once(socket, 'readable');
  return socket;
}

describe('pages of large rows', () => {
  test('that a client does not read keep only its own caller waiting', async () => {
    const slow = [await readSlowly(1), await readSlowly(2), await readSlowly(3)];
    expect(await statusOf(4)).toBe(200);
    const refused = await reporting.request(path, { caller: { ...reporter, profileId: 1 } });
    expect([refused.status, refused.json.code]).toEqual([503, 'too_much_at_once']);
    for (const socket of slow) socket.destroy();
    expect(await statusOf(1)).toBe(200);
  }, 30_000);

  test('of several exports of one caller are read in turn', async () => {
    expect(await Promise.all([1, 2, 3].map(() => statusOf(1)))).toEqual([200, 200, 200]);
  });

  test.each(['Connect', 'gRPC'])('are given back when the client of a stream has gone, over %s', async (protocol) => {
    const token = await reporting.identity.internalToken('reporting', testCaller({ ...reporter, profileId: 5 }));
    const authorise: Interceptor = (next) => (request) => {
      request.header.set('authorization', `Bearer ${token}`);
      return next(request);
    };
    const interceptors = [authorise];
    const transport =
      protocol === 'Connect'
        ? createConnectTransport({ baseUrl: reporting.url, httpVersion: '1.1', interceptors })
        : createGrpcTransport({ baseUrl: `http://127.0.0.1:${reporting.running.ports.grpc}`, interceptors });
    const client = createClient(ExportService, transport);
    for (let nth = 0; nth < 3; nth++) {
      const leaving = new AbortController();
      let pieces = 0;
      const read = async () => {
        for await (const _piece of client.exportReportingTickets(
          { format: ExportFormat.CSV },
          { signal: leaving.signal },
        )) {
          pieces += 1;
          if (pieces === 2) leaving.abort();
        }
      };
      await expect(read()).rejects.toThrow('aborted');
    }
    expect(await statusOf(5)).toBe(200);
  });
});
