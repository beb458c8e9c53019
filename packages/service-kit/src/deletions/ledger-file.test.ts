import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { appendToLedger, missingSince, readLedger } from './ledger-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'ticketing-ledger-'));
const file = join(folder, 'ledger.jsonl');
beforeEach(() => rmSync(file, { force: true }));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const lines = () => readFileSync(file, 'utf8').trimEnd().split('\n');
const at = (minute: number) => `2026-11-22T21:0${minute}:00.000Z`;

test('a line has what is new: deletions that no line has, and sequences that have moved', () => {
  const first = { service: 'tickets', until: at(0), deleted: { A: ['3'] }, lastIds: { tickets: 9, tags: 2 } };
  expect(appendToLedger(file, first)).toBe(1);
  const second = { deleted: { A: ['3', '5'], B: ['5 x'] }, lastIds: { tickets: 10, tags: 2 } };
  expect(appendToLedger(file, { ...first, ...second, until: at(1) })).toBe(2);
  expect(appendToLedger(file, { ...first, ...second, until: at(2) })).toBe(0);
  expect(lines().map((line) => JSON.parse(line))).toEqual([
    first,
    { service: 'tickets', until: at(1), deleted: { A: ['5'], B: ['5 x'] }, lastIds: { tickets: 10 } },
  ]);
  expect(readLedger(file)('tickets')).toEqual({
    deleted: new Map([
      ['A', new Set(['3', '5'])],
      ['B', new Set(['5 x'])],
    ]),
    lastIds: new Map([
      ['tickets', 10],
      ['tags', 2],
    ]),
    until: new Date(at(1)),
    store: undefined,
  });
  expect(readLedger(file)('settings').until).toBeUndefined();
});

test('deletions are looked for from ten minutes before the last line', () => {
  expect(missingSince(file, 'tickets')).toEqual(new Date(0));
  appendToLedger(file, { service: 'tickets', until: at(0), lastIds: { tickets: 1 } });
  expect(missingSince(file, 'tickets')).toEqual(new Date('2026-11-22T20:50:00.000Z'));
  expect(missingSince(file, 'settings')).toEqual(new Date(0));
});

test('what one service has deleted says nothing about another one', () => {
  appendToLedger(file, { service: 'tickets', until: at(0), deleted: { A: ['3'] } });
  expect(appendToLedger(file, { service: 'settings', until: at(0), deleted: { A: ['3'] } })).toBe(1);
});

test('a line that was written only in part is replaced by the next one', () => {
  appendToLedger(file, { service: 'tickets', until: at(0), deleted: { A: ['3'] } });
  appendFileSync(file, `{"service":"tickets","until":"${at(1)}","dele`);
  expect(readLedger(file)('tickets').until).toEqual(new Date(at(0)));
  appendToLedger(file, { service: 'tickets', until: at(2), deleted: { A: ['5'] } });
  expect(readLedger(file)('tickets').deleted.get('A')).toEqual(new Set(['3', '5']));
  expect(lines()).toHaveLength(2);
});

test('lines of the first version are read, and what they do not have is looked for from the beginning', () => {
  const old = { until: at(0), deletedTickets: [3, 5], lastIds: { tickets: { tickets: 9 }, settings: { webhooks: 4 } } };
  writeFileSync(file, `${JSON.stringify(old)}\n`);
  const method = 'ticketing.tickets.v1.TicketService.DeleteTicket';
  expect(readLedger(file)('tickets')).toEqual({
    deleted: new Map([[method, new Set(['3', '5'])]]),
    lastIds: new Map([['tickets', 9]]),
    until: undefined,
    store: undefined,
  });
  expect(readLedger(file)('settings').lastIds).toEqual(new Map([['webhooks', 4]]));
  expect(appendToLedger(file, { service: 'tickets', until: at(1), deleted: { [method]: ['3', '6'] } })).toBe(1);
});

test('the first line of a service is written although it has deleted nothing, so that its ledger can be applied', () => {
  const nothing = { service: 'reporting', until: at(0), deleted: {}, lastIds: {} };
  expect(appendToLedger(file, nothing)).toBe(0);
  expect(appendToLedger(file, { ...nothing, until: at(1) })).toBe(0);
  expect(lines().map((line) => JSON.parse(line))).toEqual([{ service: 'reporting', until: at(0) }]);
  expect(readLedger(file)('reporting')).toMatchObject({
    deleted: new Map(),
    lastIds: new Map(),
    until: new Date(at(0)),
  });
});

test('a file without a whole line is nothing that a restore may go by, and is begun anew', () => {
  for (const text of ['', `{"service":"tickets","until":"${at(0)}"}`]) {
    writeFileSync(file, text);
    expect(() => readLedger(file), text).toThrow('is no ledger: it has no line');
    expect(missingSince(file, 'tickets')).toEqual(new Date(0));
    expect(appendToLedger(file, { service: 'tickets', until: at(1), deleted: { A: ['3'] } })).toBe(1);
    expect(lines()).toHaveLength(1);
  }
});

test('a damaged line, and a file that is missing, are errors', () => {
  writeFileSync(file, 'nothing\n');
  expect(() => readLedger(file)).toThrow('is no ledger');
  expect(() => appendToLedger(file, { service: 'tickets', until: at(0), lastIds: { tickets: 1 } })).toThrow(
    'no ledger',
  );
  expect(() => readLedger(join(folder, 'missing'))).toThrow('There is no ledger');
});

test('a ledger is that of one store for each service: what another one has deleted is refused', () => {
  const line = { service: 'tickets', until: at(0), store: 'one', deleted: { A: ['3'] } };
  appendToLedger(file, line);
  appendToLedger(file, { service: 'settings', until: at(0), store: 'two' });
  appendToLedger(file, { ...line, until: at(1), deleted: { A: ['5'] } });
  expect(lines().map((text) => JSON.parse(text).store)).toEqual(['one', 'two', undefined]);
  expect(readLedger(file)('tickets').store).toBe('one');
  expect(() => appendToLedger(file, { ...line, store: 'other', deleted: { A: ['7'] } })).toThrow(
    'is the ledger of another system',
  );
  expect(lines()).toHaveLength(3);
  appendFileSync(file, `${JSON.stringify({ ...line, store: 'other' })}\n`);
  expect(() => readLedger(file)).toThrow('it has deletions of two stores of the tickets service');
});
