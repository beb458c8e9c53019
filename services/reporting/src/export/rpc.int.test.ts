import { Code, ConnectError, createClient, type Transport } from '@connectrpc/connect';
import { createConnectTransport, createGrpcWebTransport } from '@connectrpc/connect-node';
import { ExportFormat, ExportService } from '@ticketing/contracts/ticketing/reporting/v1/export_service_pb.ts';
import { createGrpcTransport } from '@ticketing/service-kit/client/grpc-transport.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ReportingHarness, startHarness } from '../../test/harness.ts';

let reporting: ReportingHarness;
let grpc: ReturnType<typeof createGrpcTransport>;
const transports: [string, () => Transport][] = [
  ['Connect', () => createConnectTransport({ baseUrl: reporting.url, httpVersion: '1.1' })],
  ['gRPC-Web', () => createGrpcWebTransport({ baseUrl: reporting.url, httpVersion: '1.1' })],
  ['gRPC', () => grpc],
];

beforeAll(async () => {
  reporting = await startHarness();
  const target = `127.0.0.1:${reporting.running.ports.grpc}`;
  grpc = createGrpcTransport({ target, services: [ExportService], defaultTimeoutMs: 10_000 });
  await reporting.put(1, { subject: 'Hallo' });
});
afterAll(async () => {
  grpc.close();
  await reporting.stop();
});

const bearer = async (claims: object) => ({
  headers: { authorization: `Bearer ${await reporting.identity.issuerToken(claims)}` },
});

describe.each(transports)('over %s', (_, open) => {
  test('an export is a stream whose first message has the content type', async () => {
    const client = createClient(ExportService, open());
    const options = await bearer({ permissions: ['exportReporting'] });
    const pieces: string[] = [];
    let type = '';
    for await (const { body } of client.exportReportingTickets({ format: ExportFormat.CSV }, options)) {
      type ||= body?.contentType ?? '';
      pieces.push(Buffer.from(body?.data ?? []).toString());
    }
    expect(type).toBe('text/csv; charset=utf-8');
    expect(pieces.join('')).toMatch(/^\uFEFF"id","channel",.*\r\n1,"email",/s);
  });

  test('refuses a caller without the right, and an invalid request', async () => {
    const client = createClient(ExportService, open());
    const readCode = async (request: object, claims: object) => {
      try {
        for await (const _part of client.exportReportingTickets(request, await bearer(claims)));
      } catch (error) {
        return ConnectError.from(error).code;
      }
    };
    const reporter = { permissions: ['exportReporting'] };
    expect(await readCode({}, { permissions: [] })).toBe(Code.PermissionDenied);
    expect(await readCode({ limit: 1001 }, reporter)).toBe(Code.InvalidArgument);
    expect(await readCode({ orderByField: 'nothing' }, reporter)).toBe(Code.InvalidArgument);
    expect(await readCode({ all: true }, reporter)).toBe(Code.InvalidArgument);
    expect(await readCode({ limit: 1 }, { roleId: 1, permissions: [] })).toBeUndefined();
  });
});
