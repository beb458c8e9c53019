import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createClient, type Interceptor } from '@connectrpc/connect';
import { createConnectTransport, createGrpcTransport } from '@connectrpc/connect-node';
import { ExportFormat, ExportService } from '@ticketing/contracts/ticketing/reporting/v1/export_service_pb.ts';
import { testCaller } from '@ticketing/testkit/test-identity.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ReportingHarness, reporter, startHarness } from '../../test/harness.ts';
import { type RowRequest, readPages } from './store/read.ts';
import type { RowDocument } from './store/schema.ts';

const mebibyte = 1024 * 1024;
let reporting: ReportingHarness;
const sockets: Socket[] = [];

beforeAll(async () => {
  reporting = await startHarness();
  reporting.settings.reportingPrivacyLevel = 'none';
  await reporting.put(1);
  const row = await rows().findOne({ _id: 1 });
  // Raw data of a row is limited to 8 MiB; two rows that are a byte larger are more than a caller may hold.
  for (let _id = 2; _id <= 5; _id++) await rows().insertOne({ ...row, _id, rawData: 'x'.repeat(8 * mebibyte + 1) });
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await reporting.stop();
});

const rows = () => reporting.database.collection<{ _id: number; rawData?: string }>('rows1');
const path = '/export/reporting_tickets?format=csv';
const readStatus = async (profileId: number) =>
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
  // guarantee: B6
  test('that a client does not read keep only its own caller waiting', async () => {
    const slow = [await readSlowly(1), await readSlowly(2), await readSlowly(3)];
    expect(await readStatus(4)).toBe(200);
    const refused = await reporting.request(path, { caller: { ...reporter, profileId: 1 } });
    expect([refused.status, refused.json.code]).toEqual([503, 'too_much_at_once']);
    for (const socket of slow) socket.destroy();
    expect(await readStatus(1)).toBe(200);
  });

  // guarantee: B4
  test('of several exports of one caller are read in turn', async () => {
    expect(await Promise.all([1, 2, 3].map(() => readStatus(1)))).toEqual([200, 200, 200]);
  });

  // guarantee: B6
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
    expect(await readStatus(5)).toBe(200);
  });
});

describe('rows that are read in steps', () => {
  const readRows: RowRequest = {
    queries: [],
    order: { key: 'id', direction: 1 },
    now: 0,
    offset: 0,
    limit: undefined,
    columns: ['status', 'rawData'],
    maxTimeMs: undefined,
  };

  /** Reads all rows of a collection that has one row for each text. Returns the pages, and the bytes that were announced. */
  async function listPages(
    texts: readonly (string | null)[],
    onAdmit: (nth: number) => Promise<unknown> = async () => {},
  ) {
    const collection = reporting.database.collection<RowDocument>(nextCollection());
    const row = { version: 1, tagRevision: 0, status: 'open' };
    await collection.insertMany(texts.map((rawData, index) => ({ ...row, _id: index + 1, rawData })));
    const announced: number[] = [];
    let held = 0;
    const admit = async (bytes: number) => {
      announced.push(bytes);
      await onAdmit(announced.length);
      held += 1;
      return () => {
        held -= 1;
      };
    };
    const pages: RowDocument[][] = [];
    for await (const page of readPages(collection, readRows, admit)) {
      expect(held).toBe(1);
      pages.push(page);
    }
    expect(held).toBe(0);
    return { collection, announced, pages, texts: pages.flat().map(({ rawData }) => rawData) };
  }
  let collections = 0;
  function nextCollection(): string {
    collections += 1;
    return `steps${collections}`;
  }

  test('come complete and in order, whether their raw data is short or long', async () => {
    const lengths = [1, 16_384, 1, mebibyte, 16_385];
    const texts = [null, ...lengths.map((length) => 'a'.repeat(length)), 'ü'.repeat(8193), 'b', null];
    const read = await listPages(texts);
    expect(read.texts).toEqual(texts);
    expect(read.pages.flat().map(({ _id, status }) => [_id, status])).toEqual(texts.map((_, id) => [id + 1, 'open']));
  });

  // guarantee: B4
  test('have at most 1 MiB of raw data in a page, or one row', async () => {
    const half = 'h'.repeat(mebibyte / 2);
    const { announced, pages } = await listPages([half, half, half, `${half}x`, 'x'.repeat(2 * mebibyte), 'y']);
    expect(pages.map((page) => page.map(({ _id }) => _id))).toEqual([[1, 2], [3], [4], [5], [6]]);
    expect(announced).toEqual([mebibyte, mebibyte / 2, mebibyte / 2 + 1, 2 * mebibyte, 1]);
  });

  test('show what they are when they are read, and are left out if they have been erased', async () => {
    const long = 'l'.repeat(mebibyte);
    const collection = () => reporting.database.collection<RowDocument>(`steps${collections}`);
    const read = await listPages([long, long, long], async (nth) => {
      if (nth !== 1) return;
      await collection().updateOne({ _id: 2 }, { $set: { status: 'closed', rawData: 'new' } });
      await collection().updateOne({ _id: 3 }, { $set: { erasedAt: new Date() } });
    });
    expect(read.pages.flat().map(({ _id, status }) => [_id, status])).toEqual([
      [1, 'open'],
      [2, 'closed'],
    ]);
    expect(read.texts).toEqual([long, 'new']);
  });

  // guarantee: B4
  test('are given back when the reader stops early, and when they cannot be admitted', async () => {
    const collection = reporting.database.collection<RowDocument>(`steps${collections}`);
    let held = 0;
    const admit = async () => {
      held += 1;
      return () => {
        held -= 1;
      };
    };
    for await (const page of readPages(collection, readRows, admit)) {
      expect([page.length, held]).toEqual([1, 1]);
      break;
    }
    expect(held).toBe(0);
    const refuse = () => Promise.reject(new Error('refused'));
    await expect(readPages(collection, readRows, refuse).next()).rejects.toThrow('refused');
  });
});
