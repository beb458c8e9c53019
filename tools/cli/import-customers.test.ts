import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ServiceHarness, startServiceHarness } from '@ticketing/testkit/service-harness.ts';
import { service } from '@ticketing/tickets/service.ts';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { command } from './import-customers.ts';

let tickets: ServiceHarness;
let folder: string;
let file: string;
let printed: string[];
let errors: string[];

beforeAll(async () => {
  tickets = await startServiceHarness(service, { variables: { ROLES: 'api' } });
  for (const name of ['VIP', 'Old']) {
    await tickets.request('POST', '/tag', { caller: { roleId: 1 }, body: { name } });
  }
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'import-'));
  file = join(folder, 'customers.csv');
  printed = [];
  errors = [];
});
afterEach(() => rmSync(folder, { recursive: true }));
afterAll(async () => {
  await tickets.stop();
});

async function run(lines: readonly string[], flags: readonly string[] = [], claims: object = {}): Promise<number> {
  writeFileSync(file, `${lines.join('\n')}\n`);
  const permissions = ['updateClientSettings'];
  const env = { IMPORT_TOKEN: await tickets.identity.issuerToken({ permissions, kind: 'serviceWorker', ...claims }) };
  return command([file, '--url', tickets.url, ...flags], {
    env,
    print: (text) => printed.push(text),
    printError: (text) => errors.push(text),
  });
}

const find = async (query: string) => (await tickets.request('GET', `/erp/customers?${query}`)).json;
const summary = () => printed.at(-1)?.replaceAll(/ {2,}/g, ' ').split('\n').slice(0, 5);

const header = 'id,business,lastname,email,tags,additionalData,contract.id,contract.startDate,contract.rawData,note';
const rows = [
  header,
  'K-1,,Grünwald,ada@example.org,vip,,V-1,2024-01-31,"{""meter"":7}",x',
  'K-2,yes,,,"Old; VIP","{""a"":{""b"":[1]}}",,,,',
  'K-1,,,,,,V-2,2024-02-29 12:00:00,,',
];

test('imports customers, and adds a contract for each further row', async () => {
  expect(await run(rows)).toBe(0);
  expect(printed[0]).toBe('Columns that are not imported: note.');
  expect(summary()).toEqual(['rows 3', 'created 2', 'updated 0', 'unchanged 0', 'rejected 0']);
  const { customers } = await find('q=K');
  expect(customers).toMatchObject([
    {
      ...{ id: 'K-1', business: false, lastname: 'Grünwald', tags: [{ name: 'VIP' }] },
      contracts: [
        { id: 'V-1', customerId: 'K-1', startDate: '2024-01-31 00:00:00', rawData: { meter: 7 } },
        { id: 'V-2', startDate: '2024-02-29 12:00:00' },
      ],
    },
    { id: 'K-2', business: true, contracts: [], additionalData: { a: { b: [1] } } },
  ]);
  expect(customers[1].tagIds).toHaveLength(2);
});

test('changes nothing the second time, and removes nothing', async () => {
  expect(await run(rows)).toBe(0);
  expect(summary()).toEqual(['rows 3', 'created 0', 'updated 0', 'unchanged 2', 'rejected 0']);
  expect(await run(['id,contract.id', 'K-1,V-3'])).toBe(0);
  const [customer] = (await find('customerId=K-1')).customers;
  expect(customer.contracts.map(({ id }: { id: string }) => id)).toEqual(['V-1', 'V-2', 'V-3']);
  expect(customer).toMatchObject({ lastname: 'Grünwald', email: 'ada@example.org' });
});

test('writes rejected rows with their reasons to a file that can be corrected and imported', async () => {
  const broken = [
    header,
    'R-1,,Good,,,,,,,',
    ',,No id,,,,,,,',
    'R-2,maybe,,,,,,2024-02-30,{},',
    'R-3,,,,nope,,,,,',
    `R-4,,${'x'.repeat(321)},,,,,,,`,
    'R-4,,,,,,V-4,,,',
    'R-5,,,,,[],V-5,,,',
    'R-6,,Good,,,,V-6,,,',
  ];
  expect(await run(broken)).toBe(2);
  expect(summary()).toEqual(['rows 8', 'created 2', 'updated 0', 'unchanged 0', 'rejected 6']);
  const rejects = readFileSync(`${file}.rejects.csv`, 'utf8');
  expect(
    rejects
      .split('\r\n')
      .map((line) => line.split(',').slice(0, 2).join())
      .sort(),
  ).toEqual([...['', '3,2', '4,3', '5,4', '6,5', '7,6', '8,7', 'import_line,import_row']]);
  expect(rejects).toContain('#/id: is missing');
  expect(rejects).toContain('#/business: ""maybe"" is not true or false');
  expect(rejects).toContain('#/contract.startDate: ""2024-02-30"" is not YYYY-MM-DD');
  expect(rejects).toContain('#/contract.id: is missing');
  expect(rejects).toContain('there is no tag ""nope""');
  expect(rejects).toContain('#/lastname: ');
  expect(rejects).toContain('#/additionalData: ""[]"" is not a JSON object');
  expect((await find('q=Good')).total).toBe(2);
  expect((await find('contractId=V-4')).total).toBe(0);

  const corrected = rejects
    .replace('x'.repeat(321), 'Fixed')
    .split('\r\n')
    .filter((line) => /R-4|import_line/.test(line));
  expect(await run(corrected)).toBe(0);
  expect((await find('contractId=V-4')).customers).toMatchObject([{ id: 'R-4', lastname: 'Fixed' }]);
  expect(existsSync(`${file}.rejects.csv`)).toBe(false);
});

test('finds each wrong customer of a batch by itself if the error does not name it', async () => {
  const large = JSON.stringify({ a: 'x'.repeat(60_000) }).replaceAll('"', '""');
  const tooLarge = Array.from({ length: 5 }, (_, index) => `B-1,V-${index},"${large}"`);
  expect(await run(['id,contract.id,contract.rawData', 'B-0,V-0,', ...tooLarge, 'B-2,V-2,'])).toBe(2);
  expect(summary()).toEqual(['rows 7', 'created 2', 'updated 0', 'unchanged 0', 'rejected 5']);
  expect((await find('q=B-1')).total).toBe(0);
});

test('imports many batches in their order, and only as many rows as wanted', async () => {
  const many = Array.from(
    { length: 1201 },
    (_, index) => `M-${index % 600},name ${Math.floor(index / 600)},W-${index}`,
  );
  expect(await run(['id,lastname,contract.id', ...many], ['--limit', '1200'])).toBe(0);
  expect((await find('lastname=name%201&limit=100')).total).toBe(600);
  expect((await find('contractId=W-1199')).customers[0].contracts).toHaveLength(2);
  expect((await find('contractId=W-1200')).total).toBe(0);
});

test('a dry run shows the first customer and the problems, and sends nothing', async () => {
  expect(await run([header, 'D-1,,A,,vip,,V-9,,,', ',,B,,,,,,,'], ['--dry-run'])).toBe(2);
  expect(printed[1]).toContain('"lastname": "A"');
  expect(printed.at(-1)).toBe('2 rows, 1 customers, 1 rows with problems. Nothing was sent.');
  expect((await find('q=D-1')).total).toBe(0);
});

test.each([
  ['without the right', rows, [], { permissions: [] }, /The token has no right to POST .*ImportCustomers \(403\)/],
  ['for a file without ids', ['name', 'a'], [], {}, /There is no column "id"/],
  ['for an unknown field', rows, ['--map', 'street=note'], {}, /"street" is not a field to import/],
  ['for an unknown column', rows, ['--map', 'city=town'], {}, /There is no column "town"/],
  ['for an unknown flag', rows, ['--channel', 'email'], {}, /--help lists the options/],
])('stops with one sentence %s', async (_, lines, flags, claims, message) => {
  expect(await run(lines, flags, claims)).toBe(1);
  expect(errors).toEqual([expect.stringMatching(message)]);
});

test('--help names every flag and column', async () => {
  expect(await run(rows, ['--help'])).toBe(0);
  for (const word of ['--url', '--map', '--limit', '--dry-run', 'contract.rawData', 'additionalData']) {
    expect(printed[0]).toContain(word);
  }
});
