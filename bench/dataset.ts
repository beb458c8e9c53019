import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Channel, Priority, TicketStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { serviceCaller } from '@ticketing/service-kit/identity/caller.ts';
import { splitWords } from '@ticketing/text/words.ts';
import mongoose from 'mongoose';
import { bodyRules, bodyTexts } from '../services/tickets/src/text/rules/body-texts.ts';
import { newTicket } from '../services/tickets/src/ticket/rules/change.ts';
import { createdEvent } from '../services/tickets/src/ticket/rules/event.ts';
import { chargedWords, searchedTexts } from '../services/tickets/src/ticket/rules/search-words.ts';
import { noSla } from '../services/tickets/src/ticket/rules/sla.ts';
import { toDocument } from '../services/tickets/src/ticket/store/document.ts';
import { type TicketDocument, ticketIndexes } from '../services/tickets/src/ticket/store/schema.ts';
import { openCsv } from '../tools/import/csv-rows.ts';
import { mapRow, planMapping } from '../tools/import/map-row.ts';

/** The tickets that a load uses, with the ids 1 to `count`. */
export interface Dataset {
  count: number;
}

/** The database of the bare routes. */
export const bareDatabase = 'bench_bare';
/** The database of the tickets service. */
export const systemDatabase = 'ticketing_tickets';
const csv = join(import.meta.dirname, '..', '..', 'shared', 'data', 'tickets.csv');
/** How many tags there are; their ids start at 1. */
export const tagCount = 60;
const batch = 1000;
/** How many messages a ticket has besides its first one: only their search words, which is what lists read of them. */
const otherMessages = 4;
/** When the first ticket was created, in Unix seconds. Each further ticket was created a second later. */
export const firstSecond = 1_700_000_000;

/** The id of the nth ticket. */
export function toId(index: number): number {
  return index + 1;
}

/**
 * Replaces the tickets in both databases, or in the given ones, with the same set of tickets, and builds the same indexes.
 * The texts come from real tickets if the CSV file exists. One ticket of five is open, one of ten is pending, and one of
 * ten needs no skill.
 */
export async function fill(
  mongodbUri: string,
  count: number,
  databases: readonly string[] = [systemDatabase, bareDatabase],
): Promise<Dataset> {
  const connection = await mongoose.createConnection(mongodbUri).asPromise();
  const texts = await readTexts();
  const words = texts.map(({ body }) => splitWords([bodyTexts(body).bodyPlain]));
  for (const name of databases) {
    const database = connection.getClient().db(name);
    const tickets = database.collection<TicketDocument>('tickets');
    await tickets.deleteMany({});
    await database.collection('closedIds').deleteMany({});
    await tickets.dropIndexes().catch(() => undefined);
    for (let first = 0; first < count; first += batch) {
      const size = Math.min(batch, count - first);
      const documents = Array.from({ length: size }, (_, index) => toTicket(first + index, texts, words));
      await tickets.insertMany(documents as never[], { ordered: false, writeConcern: { w: 1, journal: false } });
    }
    for (const { index, options } of ticketIndexes)
      await tickets.createIndex(index as mongoose.mongo.IndexSpecification, { ...options } as object);
    await database
      .collection<{ _id: string; value: number }>('counters')
      .updateOne({ _id: 'ticket' }, { $max: { value: 10_000_000 } }, { upsert: true });
  }
  await connection.close();
  return { count };
}

/** The texts of a ticket. */
export interface Texts {
  subject: string;
  body: string;
}

/** Reads the texts of the real tickets if the CSV file exists; else there are 500 generated ones. */
export async function readTexts(): Promise<Texts[]> {
  if (!existsSync(csv)) return Array.from({ length: 500 }, (_, index) => generated(index));
  const { header, rows } = await openCsv(csv, ',');
  const mapping = planMapping(header, {
    columns: new Map(),
    constants: new Map([['channel', 'email']]),
    tagColumns: [],
    keepsRaw: false,
  });
  const texts: Texts[] = [];
  for await (const { cells } of rows) {
    const { ticket } = mapRow(mapping, cells);
    texts.push({ subject: String(ticket.subject ?? ''), body: String(ticket.body ?? '') });
  }
  return texts;
}

function generated(index: number): Texts {
  const word = (salt: number) => `word${(index * 7919 + salt * 104_729) % 5003}`;
  return { subject: word(1), body: `<p>${Array.from({ length: 80 }, (_, salt) => word(salt)).join(' ')}</p>` };
}

/**
 * Mixes `index` and `salt` into a number that looks random but is the same in every run; different salts give independent numbers.
 */
function mixed(index: number, salt: number): number {
  let hash = Math.imul(index + 1, 0x9e37_79b1) ^ Math.imul(salt + 1, 0x85eb_ca6b);
  hash = Math.imul(hash ^ (hash >>> 16), 0x7feb_352d);
  hash = Math.imul(hash ^ (hash >>> 15), 0x846c_a68b);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function readStatus(tenth: number): TicketStatus {
  if (tenth < 2) return TicketStatus.OPEN;
  return tenth === 2 ? TicketStatus.PENDING : TicketStatus.CLOSED;
}

function toTicket(index: number, texts: readonly Texts[], words: readonly string[][]): TicketDocument {
  const spread = (salt: number, below: number) => mixed(index, salt) % below;
  const now = firstSecond + index;
  const { subject = '', body = '' } = texts[index % texts.length] ?? {};
  const ticket = newTicket(
    {
      ...{
        subject,
        body,
        ...bodyTexts(body),
        bodyRules,
        channel: Channel.EMAIL,
        from: `kim${spread(1, 5000)}@example.com`,
        createdAt: now,
      },
      status: readStatus(spread(2, 10)),
      priority: [Priority.LOW, Priority.MEDIUM, Priority.HIGH, Priority.URGENT][spread(3, 4)] ?? Priority.LOW,
      agentId: spread(4, 3) === 0 ? null : 1 + spread(5, 200),
      dueBy: spread(6, 4) === 0 ? null : now + spread(7, 1_000_000),
      tagIds: spread(8, 10) === 0 ? [] : [1 + spread(9, tagCount / 2), 1 + tagCount / 2 + spread(10, tagCount / 2)],
    },
    { id: toId(index), now, creator: { profileId: null, isHuman: false }, lastAgentRouting: false, sla: noSla },
  );
  const ofMessages = Array.from(
    { length: otherMessages },
    (_, nth) => words[mixed(index, 10 + nth) % words.length] ?? [],
  );
  const parts = { event: createdEvent(ticket, { eventId: `evt_${ticket.id}`, actor: serviceCaller('bench') }) };
  const { outboxSince: _, ...document } = toDocument(
    ticket,
    splitWords(searchedTexts(ticket)),
    parts,
    chargedWords({ bodyPlain: null }, [...new Set(ofMessages.flat())]),
  );
  // The outbox is empty, as if the event had been sent.
  return { ...document, outbox: [] };
}
