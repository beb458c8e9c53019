import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { skipWaits } from '@ticketing/testkit/skip-waits.ts';
import { turns } from '@ticketing/testkit/turns.ts';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { command } from '../cli/import.ts';
import { StubSystem } from './stub-system.ts';

let system: StubSystem;
let folder: string;
let file: string;
let printed: string[];
let errors: string[];

beforeEach(async () => {
  system = new StubSystem();
  await system.start();
  folder = mkdtempSync(join(tmpdir(), 'import-'));
  file = join(folder, 'rows.csv');
  printed = [];
  errors = [];
});

afterEach(async () => {
  await system.stop();
  rmSync(folder, { recursive: true });
});

function run(...flags: string[]): Promise<number> {
  const env = { IMPORT_TOKEN: 'secret' };
  const args = [file, '--url', system.url, ...flags];
  return command(args, { env, print: (text) => printed.push(text), printError: (text) => errors.push(text) });
}

function writeRows(count: number): void {
  const rows = Array.from({ length: count }, (_, index) => `subject ${index + 1},tag ${(index % 3) + 1},TAG 1 `);
  writeFileSync(file, ['subject,tag_1,tag_2', ...rows, ''].join('\n'));
}

function summary(): Record<string, string> {
  const entries = (printed.at(-1) ?? '').split('\n').map((line) => line.split(/ {2,}| (?=\d)/));
  return Object.fromEntries(entries);
}

const badSubject = (pointer: string) => ({
  code: 'invalid_argument',
  errors: [{ pointer: `${pointer}/subject`, detail: 'is too long' }],
});

describe('tickets and tags', () => {
  test('creates each tag once, although many rows need it at the same time', async () => {
    system.tags.push({ id: 1, name: 'Tag 2', fullName: 'Tag 2', parent: null });
    writeRows(60);
    expect(await run()).toBe(0);
    expect(system.tags.map(({ name }) => name).sort()).toEqual(['Tag 2', 'tag 1', 'tag 3']);
    expect(system.countMatching('POST /tag')).toBe(2);
    expect(system.tickets.size).toBe(60);
    expect(summary()).toMatchObject({ rows: '60', created: '60', rejected: '0', 'tags created': '2' });
    const first = [...system.tickets.values()].find(({ subject }) => subject === 'subject 1');
    expect(first?.tags).toEqual([system.tags.find(({ name }) => name === 'tag 1')?.id]);
    expect(system.calls.every(({ authorization }) => authorization === 'Bearer secret')).toBe(true);
  });

  test('uses a tag that another client has created meanwhile', async () => {
    writeFileSync(file, 'subject,tag_1\na,VPN\n');
    system.override = ({ what, query }) => {
      if (what !== 'GET /tag' || query.has('q')) return undefined;
      system.tags.push({ id: 7, name: 'vpn', fullName: 'vpn', parent: null });
      return { status: 200, body: { tags: [], total: 0 } };
    };
    expect(await run()).toBe(0);
    expect([...system.tickets.values()][0]?.tags).toEqual([7]);
  });
});

describe('a second run', () => {
  test('creates no ticket: searches for the known ones in batches, and sends none', async () => {
    writeRows(501);
    expect(await run()).toBe(0);
    system.calls.length = 0;
    expect(await run()).toBe(0);
    expect(summary()).toMatchObject({ rows: '501', created: '0', 'already there': '501' });
    expect([system.countMatching('POST /ticket/bulk'), system.countMatching('POST /ticket/search')]).toEqual([0, 2]);
  });

  test('continues where an earlier one ended', async () => {
    writeRows(10);
    expect(await run('--limit', '4')).toBe(0);
    expect(await run()).toBe(0);
    expect(summary()).toMatchObject({ rows: '10', created: '6', 'already there': '4' });
    expect([...system.tickets.keys()].every((id) => /^[0-9a-f]{16}-\d+$/.test(id))).toBe(true);
  });
});

describe('answers', () => {
  test('are stored once as outgoing messages of their tickets, however often the file is imported', async () => {
    const rows = ['a,A,ada@example.org,1700000000', 'b,,,', 'c,C,,'];
    writeFileSync(file, ['subject,answer,from,createdAt', ...rows, ''].join('\n'));
    expect(await run()).toBe(0);
    expect(summary()).toMatchObject({ rows: '3', created: '3', answers: '2' });
    const [first] = [...system.tickets.keys()];
    expect([...system.messages]).toHaveLength(2);
    const found = [...system.messages.values()].find(({ body }) => body.to !== undefined);
    const ticketIds = [...system.tickets.values()].map(({ subject }) => subject);
    expect(ticketIds[(found?.ticketId ?? 0) - 1]).toBe('a');
    expect(found?.body).toEqual({
      direction: 'out',
      content: { message: 'A', type: 'text' },
      to: ['ada@example.org'],
      createdAt: 1_700_000_000,
      externalConversationId: `${first?.split('-')[0]}-1-answer`,
    });
    expect(await run()).toBe(0);
    expect(summary()).toMatchObject({ created: '0', 'already there': '3', answers: '2' });
    expect([system.tickets.size, system.messages.size]).toEqual([3, 2]);
    expect(system.calls.some(({ what }) => what.endsWith('/reply'))).toBe(false);
  });

  test('that an interrupted run did not store are stored by the next one', async () => {
    writeFileSync(file, 'subject,answer\na,A\n');
    system.refuseMessage = () => ({ code: 'sandbox_crashed', detail: 'no' });
    expect(await run()).toBe(2);
    expect(summary()).toMatchObject({ rows: '1', created: '0', rejected: '1', answers: '0' });
    expect([system.tickets.size, system.messages.size]).toEqual([1, 0]);
    const rejects = () => readFileSync(`${file}.rejects.csv`, 'utf8');
    expect(rejects()).toContain('ticket 1 is there without its answer: sandbox_crashed: no');
    system.override = ({ what }) =>
      what.endsWith('/store') ? { status: 400, body: { errors: [{ pointer: '#/content', detail: 'no' }] } } : undefined;
    expect(await run()).toBe(2);
    expect(rejects()).toContain('ticket 1 is there without its answer: #/content: no');
    system.override = () => undefined;
    expect(await run()).toBe(0);
    expect(summary()).toMatchObject({ rows: '1', 'already there': '1', answers: '1' });
    expect(system.tickets.size).toBe(1);
  });
});

describe('requests', () => {
  const sizes = () =>
    system.calls.flatMap(({ what, body }) =>
      what === 'POST /ticket/bulk' && Array.isArray(body.tickets) ? [body.tickets.length] : [],
    );

  test('have up to 100 tickets, with mode each, and the rows are sent in their order', async () => {
    writeRows(250);
    expect(await run('--concurrency', '1', '--process', 'false')).toBe(0);
    expect(sizes()).toEqual([100, 100, 50]);
    const bulks = system.calls.filter(({ what }) => what === 'POST /ticket/bulk');
    expect(bulks.map(({ body, query }) => [body.mode, query.get('process')])).toEqual(
      bulks.map(() => ['each', 'false']),
    );
    const subjects = [...system.tickets.values()].map(({ subject }) => subject);
    expect(subjects).toEqual(subjects.map((_, nth) => `subject ${nth + 1}`));
  });

  test('have up to 4 MiB, or one larger ticket', async () => {
    const rows = [3, 1.5, 2, 5, 0.1].map((mib, nth) => `${nth},${'x'.repeat(mib * 1024 * 1024)}`);
    writeFileSync(file, ['subject,body', ...rows, ''].join('\n'));
    expect(await run('--concurrency', '1')).toBe(0);
    expect(sizes()).toEqual([1, 2, 1, 1]);
  });

  test('that the contract refuses are sent again without the tickets that it names', async () => {
    writeRows(5);
    system.override = ({ what, body }) => {
      const tickets = Array.isArray(body.tickets) ? body.tickets : [];
      const wrong = tickets.flatMap(({ subject }, nth) => (/[24]/.test(subject) ? [nth] : []));
      if (what !== 'POST /ticket/bulk' || wrong.length === 0) return undefined;
      const errors = wrong.map((nth) => ({ pointer: `#/tickets/${nth}/subject`, detail: 'is too long' }));
      return { status: 400, body: { errors } };
    };
    expect(await run()).toBe(2);
    expect(summary()).toMatchObject({ rows: '5', created: '3', rejected: '2' });
    expect(readFileSync(`${file}.rejects.csv`, 'utf8').match(/,\d,#\/subject: is too long,subject \d/g)).toHaveLength(
      2,
    );
    expect(sizes()).toEqual([5, 3]);
  });

  test('that fail reject their tickets, and end the import after 20 of them in a row', async () => {
    writeRows(12);
    system.override = ({ what }) => (what === 'POST /ticket/bulk' ? { status: 413, body: {} } : undefined);
    expect(await run()).toBe(2);
    expect(summary()).toMatchObject({ rows: '12', created: '0', rejected: '12' });
    writeRows(30);
    skipWaits();
    system.override = ({ what }) => (what === 'POST /ticket/bulk' ? { status: 500, body: {} } : undefined);
    expect(await run()).toBe(1);
    expect(errors).toEqual([expect.stringMatching(/failed on 30 tickets in a row, last with 500/)]);
  });
});

describe('a busy server or a broken connection', () => {
  test('waits as long as Retry-After asks for, then repeats the request', async () => {
    writeRows(1);
    const refusals = [{ status: 429, headers: { 'retry-after': '3' } }];
    system.override = ({ what }) => (what === 'POST /ticket/bulk' ? refusals.shift() : undefined);
    const waits = skipWaits();
    // A poll would advance the clock.
    const untilWaits = async (count: number) => {
      while (waits.length < count) await turns(1);
    };
    vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const running = run();
    await untilWaits(1);
    vi.advanceTimersByTime(2_999);
    expect(printed.at(-1)).toMatch(/, waiting 1 s \(429\)$/);
    await untilWaits(waits.length + 100);
    expect(system.countMatching('POST /ticket/bulk')).toBe(1);
    vi.advanceTimersByTime(1);
    expect(await running).toBe(0);
    expect([system.tickets.size, system.countMatching('POST /ticket/bulk')]).toEqual([1, 2]);
  });

  test('repeats the requests of a busy server', async () => {
    writeRows(3);
    const refusals = [{ status: 429, headers: { 'retry-after': '0' } }, { status: 503 }];
    system.override = ({ what }) => (what === 'POST /ticket/bulk' ? refusals.shift() : undefined);
    expect(await run('--concurrency', '1')).toBe(0);
    expect([system.tickets.size, system.countMatching('POST /ticket/bulk')]).toEqual([3, 3]);
  });

  test('repeats a request whose connection broke', async () => {
    writeRows(3);
    const breaks = ['reset', 'reset'] as const;
    let at = 0;
    system.override = ({ what }) => (what === 'POST /ticket/bulk' ? breaks[at++] : undefined);
    expect(await run()).toBe(0);
    expect(system.tickets.size).toBe(3);
  });

  test('stops if Retry-After asks for too long a wait', async () => {
    writeRows(3);
    system.override = () => ({ status: 429, headers: { 'retry-after': '3600' } });
    expect(await run()).toBe(1);
    expect(errors).toEqual([expect.stringMatching(/come back in 3600 seconds/)]);
  });
});

describe('rejected rows', () => {
  test('are written to a file with line, row, reasons and columns, which can be corrected and imported', async () => {
    writeFileSync(file, 'subject,priority,queue\nok,low,a\n"two\nlines",low,b\nshort,low\nworse,huge,"c,d"\n');
    system.refuse = ({ subject }, pointer) => (String(subject).startsWith('two') ? badSubject(pointer) : undefined);
    expect(await run('--concurrency', '1')).toBe(2);
    const rejects = `${file}.rejects.csv`;
    expect(readFileSync(rejects, 'utf8').split('\r\n').sort()).toEqual([
      '',
      '3,2,#/subject: is too long,"two\nlines",low,b',
      '5,3,"the row has 2 columns, the header has 3",short,low,',
      '6,4,"#/priority: ""huge"" is not one of low, medium, normal, high, urgent, critical",worse,huge,"c,d"',
      'import_line,import_row,import_reasons,subject,priority,queue',
    ]);
    expect(summary()).toMatchObject({ rows: '4', created: '1', rejected: '3' });
    expect(printed).toContain(`Rejected rows: ${rejects}`);

    system.refuse = () => undefined;
    writeFileSync(rejects, readFileSync(rejects, 'utf8').replace('huge,', 'high,'));
    file = rejects;
    expect(await run()).toBe(0);
    expect([...system.tickets.values()].map(({ rawData }) => rawData)).toContainEqual({ queue: 'c,d' });
  });

  test('of an earlier run are removed by a run without rejects', async () => {
    writeRows(2);
    system.refuse = (_, pointer) => badSubject(pointer);
    expect(await run()).toBe(2);
    expect(existsSync(`${file}.rejects.csv`)).toBe(true);
    system.refuse = () => undefined;
    expect(await run()).toBe(0);
    expect(existsSync(`${file}.rejects.csv`)).toBe(false);
  });

  test('have the reason if the server refuses their tag', async () => {
    writeRows(3);
    system.override = ({ what, body }) =>
      what === 'POST /tag' && body.name === 'tag 2' ? { status: 400, body: { detail: 'no' } } : undefined;
    expect(await run()).toBe(2);
    expect(readFileSync(`${file}.rejects.csv`, 'utf8')).toContain('3,2,"tag ""tag 2"": 400 no",');
  });
});

describe('a run stops with one sentence', () => {
  test.each([
    [401, /does not accept the token \(401\): expired/],
    [403, /no right to GET \/tag \(403\)/],
    [404, /GET \/tag responds with 404\. Is .* the address/],
  ])('on the status %i', async (status, sentence) => {
    writeRows(3);
    system.override = () => ({ status, body: { detail: 'expired' } });
    expect(await run()).toBe(1);
    expect(errors).toEqual([expect.stringMatching(sentence)]);
    expect(system.calls).toHaveLength(1);
  });

  test('if the server cannot be reached', async () => {
    writeRows(1);
    await system.stop();
    expect(await run()).toBe(1);
    expect(errors).toEqual([expect.stringMatching(/^Cannot reach http:.* \(ECONNREFUSED\)/)]);
    await system.start();
  });

  test('if a mapped column does not exist, before anything is sent', async () => {
    writeRows(1);
    expect(await run('--map', 'body=text')).toBe(1);
    expect(errors).toEqual(['There is no column "text". The columns are: subject, tag_1, tag_2.']);
    expect(system.calls).toEqual([]);
  });

  test('if a flag does not exist, if the file does not exist, and if it is not UTF-8', async () => {
    expect(await run('--fast')).toBe(1);
    expect(await run()).toBe(1);
    writeFileSync(file, Buffer.from([0x61, 0xe4, 0x0a]));
    expect(await run()).toBe(1);
    expect(errors).toEqual([
      expect.stringMatching(/'--fast'/),
      expect.stringMatching(/^Cannot read .*ENOENT/),
      expect.stringMatching(/is not UTF-8/),
    ]);
  });
});

test('a dry run shows the first ticket and sends nothing', async () => {
  writeFileSync(file, '\ufeffsubject,tag_1\nHello,VPN\n');
  expect(await run('--dry-run')).toBe(0);
  expect(printed[0]).toBe(
    `Row 1:\n${JSON.stringify({ channel: 'email', subject: 'Hello', tags: ['VPN'] }, undefined, 2)}`,
  );
  expect(printed[1]).toBe('1 rows, 1 to send, 0 with problems, 1 tags. Nothing was sent.');
  expect(system.calls).toEqual([]);
});

test('on a signal the requests in flight are completed, then the run ends with a summary', async () => {
  writeRows(1200);
  system.override = ({ what }) => {
    if (what === 'POST /ticket/bulk' && system.tickets.size === 200) process.emit('SIGINT');
    return undefined;
  };
  expect(await run()).toBe(130);
  expect(summary().created).toBe(String(system.tickets.size));
  expect(system.tickets.size).toBeLessThan(1200);
  system.override = () => undefined;
  expect(await run()).toBe(0);
  expect(system.tickets.size).toBe(1200);
});

test('--help names every flag', async () => {
  expect(await run('--help')).toBe(0);
  for (const flag of ['url', 'token', 'map', 'set', 'tag-columns', 'no-raw', 'limit', 'dry-run', 'concurrency']) {
    expect(printed[0]).toContain(`--${flag}`);
  }
});
