import { randomUUID } from 'node:crypto';
import { ExportFormat } from '@ticketing/contracts/ticketing/reporting/v1/export_service_pb.ts';
import { Priority, TicketStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { systemRuntime } from '@ticketing/runtime/runtime.ts';
import { parse } from 'csv-parse/sync';
import exceljs from 'exceljs';
import mongoose from 'mongoose';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { type ReportingHarness, startHarness } from '../../test/harness.ts';
import { exportStore } from './store.ts';

let reporting: ReportingHarness;
const path = '/export/reporting_tickets';
const formula = '=HYPERLINK("http://x","y")';
const at = (seconds: number) => ({ seconds: BigInt(seconds), nanos: 0 });

let connection: mongoose.Connection;

beforeAll(async () => {
  reporting = await startHarness();
  const dbName = reporting.environment.TICKETING_REPORTING_MONGODB_DATABASE ?? '';
  connection = await mongoose.createConnection(inject('mongodbUri'), { dbName }).asPromise();
  await reporting.putTag(1, formula);
  await reporting.putTag(2, 'Übergabe', 1);
  const priorities = [Priority.LOW, Priority.URGENT, Priority.MEDIUM, Priority.HIGH];
  const put = (id: number) =>
    reporting.put(id, {
      tagIds: id % 2 ? [1] : [2],
      priority: priorities[id % 4] ?? Priority.LOW,
      status: id > 9 ? TicketStatus.CLOSED : TicketStatus.OPEN,
      createdAt: at(1_700_000_000 + id * 60),
      ...(id > 9 ? { closedAt: at(1_700_001_000 + id * 100), lastCustomerMessageAt: at(1_700_000_900) } : {}),
      ...(id % 3 === 0 ? { customerId: `K-${id}` } : {}),
      agent: { id: 7, email: 'ada@example.org' },
      subject: `Betreff ${id}, "zitiert"`,
    });
  await Promise.all(Array.from({ length: 12 }, (_, index) => put(index + 1)));
});
afterAll(async () => {
  await connection.close();
  await reporting.stop();
});
afterEach(() => {
  reporting.settings.reportingPrivacyLevel = 'none';
  reporting.settings.defaultDateExportFormat = ExportFormat.XLSX;
});

const get = (query: string, headers: Record<string, string> = {}) => reporting.request(`${path}?${query}`, { headers });
const listIds = async (query: string) => (await get(`format=json&${query}`)).json.map(({ id }: { id: number }) => id);
const readProblem = async (query: string, headers?: Record<string, string>) => {
  const { status, json } = await get(query, headers);
  return [
    status,
    ...(json.errors ?? []).map(({ pointer, code }: { pointer: string; code: string }) => `${pointer} ${code}`),
  ];
};
const filter = (index: number, key: string, comparator: string, value: string) =>
  `filters[${index}][key]=${key}&filters[${index}][comparator]=${encodeURIComponent(comparator)}&filters[${index}][value]=${encodeURIComponent(value)}`;

describe('the file format of an export', () => {
  // spec: 30.2, 30.7
  test('is xlsx by default, unless the setting or the request names another', async () => {
    const sheet = await get('');
    expect(sheet.headers.get('content-type')).toBe('application/vnd.openxmlformats-officedocument.spreadsheetml.sheet');
    expect(sheet.headers.get('content-disposition')).toMatch(
      /^attachment; filename="reporting_tickets_\d{8}T\d{6}Z\.xlsx"$/,
    );
    expect(sheet.headers.get('x-content-type-options')).toBe('nosniff');
    reporting.settings.defaultDateExportFormat = ExportFormat.CSV;
    expect((await get('')).headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect((await get('format=json')).headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect((await get('format=json')).headers.get('content-disposition')).toContain('.json"');
  });

  // spec: 2.10, 30.1
  test('does not change the values of the cells', async () => {
    const { json } = await get('format=json&limit=12&orderByDirection=asc');
    const names = Object.keys(json[0]);
    const csv: string[][] = parse((await get('format=csv&limit=12&orderByDirection=asc')).text, { bom: true });
    expect(csv[0]).toEqual(names);
    const workbook = new exceljs.Workbook();
    await workbook.xlsx.load((await get('format=xlsx&limit=12&orderByDirection=asc')).bytes as never);
    const sheet = workbook.getWorksheet('tickets');
    expect(sheet?.views).toMatchObject([{ state: 'frozen', ySplit: 1 }]);
    expect(sheet?.rowCount).toBe(13);
    for (const [row, values] of json.entries()) {
      for (const [column, name] of names.entries()) {
        const value = values[name];
        const text = value === null ? '' : String(value);
        expect(csv[row + 1]?.[column], name).toBe(text.startsWith('=') ? `'${text}` : text);
        const cell = sheet?.getRow(row + 2).getCell(column + 1).value;
        const shown = cell instanceof Date ? `${cell.toISOString().slice(0, 19)}Z` : cell;
        expect(shown, name).toEqual(value);
      }
    }
    expect(json[0].topic).toBe(formula);
  });
});

describe('the rows of an export', () => {
  // spec: 30.6
  test('are those with the highest ids by default; x-total-count is the number of all matching rows', async () => {
    const { headers } = await get('format=json');
    expect(headers.get('x-total-count')).toBe('12');
    expect(await listIds('')).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    expect(await listIds('limit=2&offset=3')).toEqual([9, 8]);
    expect(await listIds('offset=50')).toEqual([]);
    expect((await get('format=json&limit=2')).headers.get('x-total-count')).toBe('12');
  });

  // spec: 30.5
  test('are ordered by any column, unset last in both directions, ties by id', async () => {
    expect(await listIds('orderByField=createdAt&orderByDirection=asc&limit=3')).toEqual([1, 2, 3]);
    expect(await listIds('orderByField=customerId&orderByDirection=asc')).toEqual([
      12, 3, 6, 9, 1, 2, 4, 5, 7, 8, 10, 11,
    ]);
    expect(await listIds('orderByField=customerId&orderByDirection=desc')).toEqual([
      9, 6, 3, 12, 11, 10, 8, 7, 5, 4, 2, 1,
    ]);
    expect(await listIds('orderByField=customerId&orderByDirection=asc&offset=3&limit=3')).toEqual([9, 1, 2]);
    expect(await listIds('orderByField=customerId&orderByDirection=asc&offset=6&limit=2')).toEqual([4, 5]);
    expect(await listIds('orderByField=priority&orderByDirection=desc&limit=4')).toEqual([9, 5, 1, 11]);
    expect(await listIds('orderByField=secondsSinceLastCustomerMessage&orderByDirection=desc&limit=4')).toEqual([
      12, 11, 10, 9,
    ]);
    expect(await listIds('orderByField=secondsSinceLastCustomerMessage&orderByDirection=asc&limit=4')).toEqual([
      10, 11, 12, 1,
    ]);
  });

  test('can be filtered by every column', async () => {
    expect(await listIds(filter(0, 'status', '=', 'closed'))).toEqual([12, 11, 10]);
    expect(await listIds(filter(0, 'priority', '>=', 'high'))).toEqual([11, 9, 7, 5, 3, 1]);
    expect(await listIds(filter(0, 'subTopic', 'like', 'über%'))).toEqual([12, 10, 8, 6, 4, 2]);
    expect(await listIds(`${filter(0, 'id', '<', '6')}&${filter(1, 'customerId', '!=', 'K-3')}`)).toEqual([5, 4, 2, 1]);
    expect(await listIds(filter(0, 'createdAt', '<=', '2023-11-14 22:15:30'))).toEqual([2, 1]);
    expect(await listIds(filter(0, 'secondsSinceLastCustomerMessage', '>', '1150'))).toEqual([12, 11]);
    expect(await listIds(filter(0, 'rawData', 'like', '%Betreff 7,%'))).toEqual([7]);
    expect((await get(`format=json&${filter(0, 'status', '=', 'closed')}`)).headers.get('x-total-count')).toBe('3');
    const filters = [
      { key: 'id', comparator: '<', value: 6 },
      { key: 'customerId', comparator: '!=', value: 'K-3' },
    ];
    expect(await listIds(`filters=${encodeURIComponent(JSON.stringify(filters))}`)).toEqual([5, 4, 2, 1]);
  });

  // spec: 14.15, 37.7
  test('contain no personal data under the privacy level pseudonymized', async () => {
    reporting.settings.reportingPrivacyLevel = 'pseudonymized';
    const { json, text } = await get('format=json');
    expect(Object.keys(json[0])).not.toContain('email');
    expect(Object.keys(json[0])).not.toContain('rawData');
    expect(text).not.toContain('ada@example.org');
    expect((await get('format=csv')).text).not.toContain('ada@example.org');
    expect(await readProblem('orderByField=email')).toEqual([400, '#/query/orderByField unknown_order']);
    expect(await readProblem(filter(0, 'email', '=', 'ada@example.org'))).toEqual([
      400,
      '#/query/filters/0/key unknown_filter_key',
    ]);
    expect(await readProblem(filter(0, 'rawData', 'like', '%a%'))).toEqual([
      400,
      '#/query/filters/0/key unknown_filter_key',
    ]);
  });
});

describe('a request', () => {
  test.each([
    ['format=pdf', '#/query/format not_allowed'],
    ['limit=0', '#/query/limit out_of_range'],
    ['limit=1001', '#/query/limit out_of_range'],
    ['offset=-1', '#/query/offset out_of_range'],
    ['orderByField=subject', '#/query/orderByField unknown_order'],
    ['orderByDirection=up', '#/query/orderByDirection not_allowed'],
    ['colour=red', '#/query/colour unknown_field'],
    ['all=true', '#/query/all not_allowed'],
    [filter(0, 'subject', '=', 'x'), '#/query/filters/0/key unknown_filter_key'],
    [filter(0, 'id', '~', '1'), '#/query/filters/0/comparator not_allowed'],
    [filter(0, 'id', '=', 'x'), '#/query/filters/0/value invalid_filter_value'],
    // spec: 30.3, 30.4, 30.5, 30.6, 40.2
  ])('%s is invalid: %s', async (query, violation) => {
    expect(await readProblem(query)).toEqual([400, violation]);
  });

  test('with all=true cannot have limit or offset', async () => {
    const headers = { prefer: 'respond-async' };
    expect(await readProblem('all=true&limit=5&offset=1', headers)).toEqual([
      ...[400, '#/query/limit not_allowed', '#/query/offset not_allowed'],
    ]);
  });

  test('with HEAD creates no export', async () => {
    const before = await reporting.database.collection('exports').countDocuments();
    const response = await reporting.request(`${path}?all=true`, {
      method: 'HEAD',
      headers: { prefer: 'respond-async' },
    });
    expect(response.status).toBe(200);
    expect(await reporting.database.collection('exports').countDocuments()).toBe(before);
  });

  // guarantee: C4
  test('requires the right exportReporting, on every path', async () => {
    const id = randomUUID();
    for (const onePath of [path, `${path}/${id}`, `${path}/${id}/file`]) {
      const refused = await reporting.request(onePath, { caller: { permissions: [] } });
      expect([refused.status, refused.json.code]).toEqual([403, 'missing_right']);
      expect((await reporting.fetch(reporting.url + onePath)).status).toBe(401);
      expect((await reporting.request(onePath, { caller: { permissions: [], roleId: 1 } })).status).not.toBe(403);
      const other = await reporting.request(onePath, { method: 'POST' });
      expect([other.status, other.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    }
  });
});

describe('an export that is made in the background', () => {
  const exportInBackground = async (query: string, profileId = 7) => {
    const response = await reporting.request(`${path}?${query}`, {
      caller: { permissions: ['exportReporting'], profileId },
      headers: { prefer: 'respond-async, wait=10' },
    });
    expect(response.status, response.text).toBe(202);
    return response;
  };
  const waitUntilFinished = async (location: string) => {
    await expect.poll(async () => (await reporting.request(location)).json.status).toBe('finished');
    return (await reporting.request(location)).json;
  };

  // spec: 30.7
  test('shows its progress, and then the URL of the file', async () => {
    const response = await exportInBackground('format=json&all=true&orderByField=createdAt&orderByDirection=asc');
    const location = response.headers.get('location') ?? '';
    expect(location).toBe(`${path}/${response.json.id}`);
    expect(response.headers.get('preference-applied')).toBe('respond-async');
    expect(response.json).toMatchObject({
      status: 'waiting',
      format: 'json',
      rows: 0,
      total: null,
      finishedAt: null,
      url: null,
    });
    expect(Date.parse(response.json.expiresAt) - Date.parse(response.json.createdAt)).toBe(86_400_000);
    const done = await waitUntilFinished(location);
    expect(done).toMatchObject({ rows: 12, total: 12, url: `${location}/file`, finishedAt: expect.any(String) });
    const file = await reporting.request(done.url);
    expect(file.headers.get('content-disposition')).toContain('.json"');
    expect(file.headers.get('content-length')).toBe(String(file.bytes.length));
    const { json } = await get('format=json&orderByField=createdAt&orderByDirection=asc');
    const withoutAge = (rows: object[]) => rows.map((row) => ({ ...row, secondsSinceLastCustomerMessage: 0 }));
    expect(withoutAge(file.json)).toEqual(withoutAge(json));
  });

  test('applies limit and offset, and cannot be seen by another caller', async () => {
    const { json } = await exportInBackground('format=csv&limit=2&offset=1');
    await waitUntilFinished(`${path}/${json.id}`);
    const file = await reporting.request(`${path}/${json.id}/file`);
    const rows: string[][] = parse(file.text, { bom: true });
    expect(rows.map(([id]) => id)).toEqual(['id', '11', '10']);
    for (const onePath of [`${path}/${json.id}`, `${path}/${json.id}/file`]) {
      const other = await reporting.request(onePath, { caller: { permissions: ['exportReporting'], profileId: 8 } });
      expect([other.status, other.json.code]).toEqual([404, 'export_not_found']);
    }
    expect((await reporting.request(`${path}/${randomUUID()}`)).status).toBe(404);
    expect((await reporting.request(`${path}/nonsense`)).status).toBe(400);
  });

  test('is made again by another process if its process dies, and can be read after a restart', async () => {
    const { json } = await exportInBackground('format=json&all=true');
    const location = `${path}/${json.id}`;
    await waitUntilFinished(location);
    const exports = reporting.database.collection<{ _id: string }>('exports');
    // The state in which a process leaves the export if it dies while it writes the file.
    await exports.updateOne(
      { _id: json.id },
      { $set: { status: 2, lease: { owner: 'dead', expiresAt: new Date(0) }, rows: 3 } },
    );
    expect((await waitUntilFinished(location)).rows).toBe(12);
    const another = await reporting.startInstance();
    const file = await reporting.request(`${location}/file`, { url: `http://127.0.0.1:${another.ports.http}` });
    expect(file.json).toHaveLength(12);
    await another.stop();
    expect(await reporting.database.collection('exportFiles.files').countDocuments({ filename: json.id })).toBe(1);
  });

  test('responds with 409 for the file of an export that has failed', async () => {
    const { json } = await exportInBackground('format=json&all=true');
    await waitUntilFinished(`${path}/${json.id}`);
    await reporting.database
      .collection<{ _id: string }>('exports')
      .updateOne({ _id: json.id }, { $set: { status: 4 } });
    const response = await reporting.request(`${path}/${json.id}/file`);
    expect([response.status, response.json.code]).toEqual([409, 'export_not_finished']);
  });

  test('is refused if the caller has five unfinished exports', async () => {
    const exports = reporting.database.collection('exports');
    const unfinished = {
      requestedBy: 'user 9',
      status: 2,
      lease: { owner: 'other', expiresAt: new Date(Date.now() + 60_000) },
      createdAt: new Date(),
    };
    await exports.insertMany(
      Array.from({ length: 5 }, (_, slot) => ({ ...unfinished, slot, _id: randomUUID() as never })),
    );
    const response = await reporting.request(`${path}?all=true`, {
      caller: { permissions: ['exportReporting'], profileId: 9 },
      headers: { prefer: 'respond-async' },
    });
    expect([response.status, response.json.code, response.headers.get('retry-after')]).toEqual([
      429,
      'too_many_exports',
      '10',
    ]);
    await exportInBackground('format=json', 10);
    await exports.deleteMany({ requestedBy: 'user 9' });
  });

  test('is withdrawn if it contains personal data and the privacy level becomes pseudonymized', async () => {
    const { json } = await exportInBackground('format=json');
    await waitUntilFinished(`${path}/${json.id}`);
    reporting.settings.reportingPrivacyLevel = 'pseudonymized';
    const response = await reporting.request(`${path}/${json.id}/file`);
    expect([response.status, response.json.code]).toEqual([404, 'export_withdrawn']);
    const other = await exportInBackground('format=json');
    await waitUntilFinished(`${path}/${other.json.id}`);
    expect((await reporting.request(`${path}/${other.json.id}/file`)).text).not.toContain('ada@example.org');
  });

  test('counts all matching rows in x-total-count, whatever its limit', async () => {
    const { json } = await exportInBackground('format=json&limit=2');
    await waitUntilFinished(`${path}/${json.id}`);
    const file = await reporting.request(`${path}/${json.id}/file`);
    expect([file.json.length, file.headers.get('x-total-count')]).toEqual([2, String((await reporting.rows()).length)]);
  });

  test('fails after five attempts in which its process died', async () => {
    const { json } = await exportInBackground('format=json');
    await waitUntilFinished(`${path}/${json.id}`);
    const exports = reporting.database.collection<{ _id: string }>('exports');
    await exports.updateOne(
      { _id: json.id },
      { $set: { status: 2, lease: { owner: 'dead', expiresAt: new Date(0) }, attempts: 5 } },
    );
    // Another export wakes the worker.
    await exportInBackground('format=json');
    await expect.poll(async () => (await reporting.request(`${path}/${json.id}`)).json.status).toBe('failed');
  });

  // guarantee: F35
  test('is removed with its file when it is old; files without an export are removed too', async () => {
    const { json } = await exportInBackground('format=json');
    await waitUntilFinished(`${path}/${json.id}`);
    const orphan = randomUUID();
    const chunks = reporting.database.collection<{ files_id: string; n: number }>('exportFiles.chunks');
    await chunks.insertOne({ files_id: orphan, n: 0 });
    const tickets = reporting.database.collection<{ fileId: string }>('exportTickets');
    await tickets.insertOne({ fileId: orphan });
    const store = exportStore(connection, systemRuntime);
    await store.removeOlderThan(new Date(Date.now() - 3_600_000));
    expect([
      await chunks.countDocuments({ files_id: orphan }),
      await tickets.countDocuments({ fileId: orphan }),
    ]).toEqual([0, 0]);
    expect((await reporting.request(`${path}/${json.id}/file`)).status).toBe(200);
    await store.removeOlderThan(new Date());
    expect((await reporting.request(`${path}/${json.id}`)).status).toBe(404);
    expect([await chunks.countDocuments({}), await tickets.countDocuments({})]).toEqual([0, 0]);
  });

  test('is withdrawn when a ticket in it is deleted; other exports stay', async () => {
    await reporting.put(50, { subject: 'Geheimnis' });
    const withTicket = (await exportInBackground('format=json&all=true')).json.id;
    const other = (await exportInBackground(`format=json&${filter(0, 'id', '<', '5')}`)).json.id;
    await waitUntilFinished(`${path}/${withTicket}`);
    await waitUntilFinished(`${path}/${other}`);
    await reporting.remove(50);
    const response = await reporting.request(`${path}/${withTicket}/file`);
    expect([response.status, response.json.code]).toEqual([404, 'export_withdrawn']);
    expect((await reporting.request(`${path}/${withTicket}`)).json).toMatchObject({ status: 'withdrawn', url: null });
    expect((await reporting.request(`${path}/${other}/file`)).json).toHaveLength(4);
    expect(await everythingIn(reporting)).not.toContain('Geheimnis');
  });
});

/** The content of all collections, as text. */
async function everythingIn({ database }: ReportingHarness): Promise<string> {
  const parts: string[] = [];
  for (const { name } of await database.listCollections().toArray()) {
    for await (const document of database.collection(name).find({})) {
      const data = document.data?.buffer instanceof Uint8Array ? Buffer.from(document.data.buffer).toString() : '';
      parts.push(JSON.stringify(document), data);
    }
  }
  return parts.join('\n');
}
