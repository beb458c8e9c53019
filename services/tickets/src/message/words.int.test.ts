import type { Database } from '@ticketing/store/connection/database.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';
import { newProcess } from '../../test/new-process.ts';
import { defaultSettings } from '../settings.ts';
import type { KnownSubchannel } from '../ticket/rules/subchannels.ts';

let tickets: TicketsHarness;
let database: Database;

beforeAll(async () => {
  const mailbox: KnownSubchannel = { enabled: true, interface: 'imap', channel: 1, address: 'desk@example.org' };
  const subchannels = new Map([[1, mailbox]]);
  tickets = await startHarness({
    settings: async () => ({ ...defaultSettings, mailFrom: 'desk@example.org', subchannels }),
  });
  database = await tickets.openDatabase();
});
afterAll(async () => {
  await database.close();
  await tickets.stop();
});

async function request(method: string, path: string, body?: object) {
  const { status, json } = await tickets.request(method, path, body && { body });
  if (status >= 300) throw new Error(JSON.stringify(json));
  return json;
}

async function newTicket(fields: object = {}): Promise<string> {
  const { id } = await request('POST', '/ticket', {
    ...{ channel: 'email', from: 'kim@example.com', subject: 'Meter', body: 'Opening.' },
    ...fields,
  });
  return `/ticket/${id}`;
}

const content = (message: string) => ({ content: { message, type: 'text' } });
const write = (path: string, message: string, fields: object = {}): Promise<{ id: number }> =>
  request('POST', `${path}/conversation/reply`, { ...content(message), ...fields });
const record = (path: string, message: string, fields: object = {}) =>
  request('POST', `${path}/conversation/store`, { direction: 'in', ...content(message), ...fields });

/** The tickets that a search finds, as paths. */
async function found(q: string): Promise<string[]> {
  const { tickets: list } = await request('POST', '/ticket/search', {
    filters: [{ key: 'q', comparator: '=', value: q }],
  });
  return list.map(({ id }: { id: number }) => `/ticket/${id}`);
}

const collection = (name: string) => tickets.database.collection<{ _id: number }>(name);
const setTicket = (path: string, update: object) =>
  collection('tickets').updateOne({ _id: Number(path.split('/').at(-1)) }, update);
const read = (path: string) => tickets.documentOf(Number(path.split('/').at(-1)));

async function refresh(): Promise<void> {
  const task = newProcess(tickets, database).tasks.find(({ name }) => name === 'refresh search words');
  await task?.run();
}

test('a ticket is found by the texts of its replies, its received messages and its notes, also together', async () => {
  const path = await newTicket({ subject: 'Zählertausch' });
  await write(path, 'Wir kommen am Donnerstag.', { to: ['lee@partner.example'], cc: ['pat@third.example'] });
  await record(path, 'Bitte vormittags!', {
    from: 'robin@fourth.example',
    fromName: 'Robin Özil',
    subject: 'Terminwunsch',
  });
  await write(path, 'Rückruf unter 030 1234567', { private: true });
  for (const q of ['donnerstag', 'vormitt', 'terminwunsch', 'oezil', 'robin@fourth.example', 'lee@partner.example']) {
    expect([q, await found(q)]).toEqual([q, [path]]);
  }
  for (const q of ['pat third', '0301234567', 'zaehlertausch donnerstag vormittags rueckruf']) {
    expect([q, await found(q)]).toEqual([q, [path]]);
  }
  expect(await found('donnerstag freitag')).toEqual([]);
});

test('an outgoing ticket is found by its recipients', async () => {
  const path = await newTicket({ direction: 'out', from: undefined, to: ['ira@fifth.example'], body: 'Angebot' });
  expect(await found('ira@fifth.example')).toEqual([path]);
});

test('a ticket that is made outgoing is found by its recipients, and no longer when it is made incoming', async () => {
  const fields = { externalTicketId: 'TURN', channel: 'email', subject: 'Wende', to: ['uma@sixth.example'] };
  const { id } = await request('POST', '/ticket', { ...fields, direction: 'in' });
  expect(await found('uma@sixth.example')).toEqual([]);
  await request('POST', '/ticket', { ...fields, direction: 'out' });
  expect(await found('uma@sixth.example')).toEqual([`/ticket/${id}`]);
  await request('POST', '/ticket', { ...fields, direction: 'in' });
  expect(await found('uma@sixth.example')).toEqual([]);
});

test('the first message that was sent is found by its subject when the ticket has another one', async () => {
  const path = await newTicket({
    direction: 'out',
    from: undefined,
    to: ['ina@seventh.example'],
    subchannelId: 1,
    subject: 'Erstfassung',
  });
  expect((await read(path)).conversationIds).toHaveLength(1);
  const { version } = await read(path);
  const patched = { id: Number(path.split('/').at(-1)), subject: 'Zweitfassung' };
  await tickets.request('PATCH', '/ticket', { body: [patched] });
  expect((await read(path)).version).toBe(version + 1);
  const both = [await found('erstfassung'), await found('zweitfassung')];
  await setTicket(path, { $unset: { wordsRules: 1 } });
  await refresh();
  expect([both, [await found('erstfassung'), await found('zweitfassung')]]).toEqual([
    [[path], [path]],
    [[path], [path]],
  ]);
});

test('a draft is found when it is published', async () => {
  const path = await newTicket();
  const { id } = await write(path, 'Kulanzgutschrift', { isDraft: true });
  expect(await found('kulanzgutschrift')).toEqual([]);
  await request('PATCH', `${path}/conversation/${id}`, { isDraft: false, ...content('Kulanzgutschein') });
  expect([await found('kulanzgutschrift'), await found('kulanzgutschein')]).toEqual([[], [path]]);
});

test('a note is found by its words after a change, and no longer by those before; after its deletion by none', async () => {
  const path = await newTicket();
  await write(path, 'Ein anderer Vermerk', { private: true });
  const { id } = await write(path, 'Vorsicht Querulant', { private: true });
  const { version } = await read(path);
  await request('PATCH', `${path}/conversation/${id}`, content('Vorsicht Stammkundin'));
  expect([await found('querulant'), await found('stammkundin'), await found('vermerk')]).toEqual([[], [path], [path]]);
  expect((await read(path)).version).toBe(version);
  await tickets.request('DELETE', `${path}/conversation/${id}`);
  expect([await found('stammkundin'), await found('vermerk')]).toEqual([[], [path]]);
});

test('notes of one ticket that are changed at once are found by their new words only', async () => {
  const path = await newTicket();
  const word = (round: number, nth: number) => `runde${round}stand${nth}`;
  const notes = await Promise.all([0, 1, 2, 3].map((nth) => write(path, word(0, nth), { private: true })));
  for (let round = 1; round <= 5; round++) {
    const change = ({ id }: { id: number }, nth: number) =>
      request('PATCH', `${path}/conversation/${id}`, content(word(round, nth)));
    await Promise.all(notes.map(change));
    for (const nth of notes.keys()) {
      expect([await found(word(round - 1, nth)), await found(word(round, nth))]).toEqual([[], [path]]);
    }
  }
});

test('messages that are added at once are all found', async () => {
  const path = await newTicket();
  const words = Array.from({ length: 12 }, (_, nth) => `gleichzeitig${String.fromCharCode(97 + nth)}`);
  await Promise.all(words.map((word, nth) => write(path, word, { private: nth % 3 === 0 })));
  expect(await found(words.join(' '))).toEqual([path]);
});

test('the first 200,000 bytes of words of messages count and 100,000 of notes, of each message 2,000 words', async () => {
  const path = await newTicket({ externalTicketId: 'EXT-LONG' });
  const words = (name: string, count: number) => Array.from({ length: count }, (_, nth) => `${name}${nth}x`).join(' ');
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) await write(path, words(name, 2500));
  for (const name of ['u', 'v', 'w', 'y']) await write(path, words(name, 1990), { private: true });
  for (const q of ['a1900x', 'e1900x', 'f9x', 'v1900x', 'w9x', 'ext-long'])
    expect([q, await found(q)]).toEqual([q, [path]]);
  for (const q of ['a2000x', 'f1900x', 'g1x', 'w1900x', 'y1x']) expect([q, await found(q)]).toEqual([q, []]);
  const { wordBytes, messageWords, noteWords } = await read(path);
  const listBytes = (list: string[]) => list.reduce((sum, word) => sum + word.length + 12, 0);
  expect([listBytes(messageWords), listBytes(noteWords)].map((size) => Math.round(size / 1000))).toEqual([200, 100]);
  await setTicket(path, { $unset: { wordsRules: 1 } });
  await refresh();
  const again = await read(path);
  expect(new Set(again.messageWords)).toEqual(new Set(messageWords));
  expect(new Set(again.noteWords)).toEqual(new Set(noteWords));
  expect(Object.values(again.wordBytes).map((used) => Number(used) >= 100_000)).toEqual([true, true]);
  expect(Object.keys(again.wordBytes)).toEqual(Object.keys(wordBytes));
});

test('the ids of a ticket are found however long its text is', async () => {
  const long = Array.from({ length: 3000 }, (_, nth) => `lang${nth}x`).join(' ');
  const path = await newTicket({ body: long, externalTicketId: 'LONGID77' });
  expect(await found('longid77')).toEqual([path]);
});

test('the words of a ticket of an earlier version are made by the scheduler, without a new version', async () => {
  const path = await newTicket();
  await write(path, 'Altbestand Nachricht');
  await write(path, 'Altbestand Vermerk', { private: true });
  await setTicket(path, { $unset: { messageWords: 1, noteWords: 1, wordsRules: 1 }, $set: { words: ['earlier'] } });
  expect(await found('altbestand')).toEqual([]);
  await refresh();
  expect([await found('altbestand nachricht vermerk meter opening'), await found('earlier')]).toEqual([[path], []]);
  expect((await read(path)).version).toBe(3);
});

test('the words of a note whose change was interrupted are made again by the scheduler', async () => {
  const path = await newTicket();
  const { id } = await write(path, 'Unterbrochen', { private: true });
  await setTicket(path, { $set: { wordsRules: -1 } });
  await collection('conversations').updateOne({ _id: id }, { $set: { bodyPlain: 'Fortgesetzt' } });
  await refresh();
  expect([await found('unterbrochen'), await found('fortgesetzt')]).toEqual([[], [path]]);
});

test('a deleted ticket keeps no words, and the scheduler makes none, but removes those that an earlier version left', async () => {
  const path = await newTicket();
  await write(path, 'Vergessenwerden');
  await tickets.request('DELETE', path, { caller: { roleId: 1 } });
  const words = async () => {
    const document = await read(path);
    return [document.words, document.messageWords, document.noteWords].filter(Boolean);
  };
  expect(await words()).toEqual([]);
  await setTicket(path, { $unset: { wordsRules: 1 }, $set: { messageWords: ['left'], noteWords: ['left'] } });
  await refresh();
  expect([await words(), (await read(path)).wordsRules]).toEqual([[], 1]);
});
