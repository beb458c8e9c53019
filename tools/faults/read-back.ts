import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fromBinary, toJson } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { TagChangedSchema } from '@ticketing/contracts/ticketing/events/v1/tag_changed_pb.ts';
import { TicketChangedSchema, TicketChangeType } from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { tagChangedTopic, ticketChangedTopic } from '@ticketing/contracts/topics.ts';
import type { IncomingMessage } from '@ticketing/events/bus/bus.ts';
import { openBus } from '@ticketing/events/bus/bus-config.ts';
import { messageEncoder } from '@ticketing/rest/codec/encode.ts';
import type { Environment } from '@ticketing/runtime/config-reader.ts';
import { createLogger } from '@ticketing/runtime/logger.ts';
import { services } from '@ticketing/system/services.ts';
import { sharedConfig } from '@ticketing/testkit/shared-config.ts';
import { HttpTransport } from '../import/http-transport.ts';
import { isObject, type JsonObject, objectsIn, parseJson } from '../import/json.ts';
import type { AnalysedTicket, ShownIntent } from './execution-verdict.ts';
import { toState } from './load.ts';
import { findMarker } from './message-ledger.ts';
import type { MessageCounts, ShownMessage } from './message-verdict.ts';
import { parseTicketEvent } from './subscriber.ts';
import type { Observed, ReadMessage, ShownRow, ShownTicket } from './verdict.ts';

const pageOfTickets = 500;
const pageOfRows = 1000;
const pageOfTags = 1000;
const pageOfMessages = 1000;
const pollMs = 200;
const timeoutMs = 60_000;

/** All that was read from the system at the end. */
export interface ObservedSystem extends Observed {
  /** The messages of the tickets that are shown, and their counts in the rows, by ticket. */
  shown: ReadonlyMap<number, readonly ShownMessage[]>;
  countsOfRows: ReadonlyMap<number, MessageCounts>;
  analysed: ReadonlyMap<number, AnalysedTicket>;
}

/** Reads all events, tickets, messages, tags and rows of an idle system. Errors: throws on any response that is not 200. */
export async function observe(url: URL, token: string, environment: Environment): Promise<ObservedSystem> {
  const transport = new HttpTransport(url, token, 1, timeoutMs);
  const get = async (method: string, path: string, content?: object): Promise<unknown> => {
    const body = content ? { body: JSON.stringify(content) } : {};
    const response = await transport.send({ method, path, ...body, wantsBody: true });
    if (response.status === 200) return parseJson(response.text);
    throw new Error(`${method} ${path} responds with ${response.status}: ${response.text.slice(0, 300)}`);
  };
  try {
    const messages = await readMessages(environment);
    const tickets = await readTickets(get);
    const shown = new Map<number, ShownMessage[]>();
    const analysed = new Map<number, AnalysedTicket>();
    for (const { id } of tickets) {
      shown.set(id, await readConversations(get, id));
      analysed.set(id, analysedTicket(await get('GET', `/ticket/${id}?includeSessions=false`)));
    }
    const rows = await readRows(get);
    const countsOfRows = new Map(rows.map(({ row, counts }) => [row.id, counts]));
    const tags = await readTags(get);
    return { messages, tickets, shown, analysed, tags, rows: rows.map(({ row }) => row), countsOfRows };
  } finally {
    transport.close();
  }
}

const encodeChange = messageEncoder(TicketChangedSchema);

type Get = (method: string, path: string, content?: object) => Promise<unknown>;

/** Reads both topics from their start, as a new consumer group. */
async function readMessages(environment: Environment): Promise<ReadMessage[]> {
  const publisher = services.find(({ publishes }) => publishes.length > 0);
  const config = publisher && sharedConfig(publisher, environment);
  if (!config?.bus) throw new Error('No service publishes events.');
  const bus = await openBus(config.bus, 'faults', createLogger('faults', 'silent'));
  const topics = [ticketChangedTopic.name, tagChangedTopic.name];
  const group = `faults-${randomUUID()}`;
  // The keys are topic, partition and offset, because a message that is delivered twice to this group counts as one.
  const read = new Map<string, IncomingMessage>();
  try {
    await bus.subscribe({
      group,
      topics,
      async handle(messages, delivery) {
        for (const message of messages) {
          read.set(`${message.topic}/${message.partition}/${message.offset}`, message);
          delivery.acknowledge(message);
        }
      },
      onError: () => undefined,
    });
    while ((await bus.lag(group, topics)) > 0) await sleep(pollMs);
  } finally {
    await bus.close();
  }
  return [...read.values()].map(toMessage);
}

/** The fields that only changes of tickets have. */
const unchanged = { status: undefined, isReopening: false, event: undefined } as const;

function toMessage({ topic, value }: IncomingMessage): ReadMessage {
  if (topic === tagChangedTopic.name) {
    const { tagId, version, deleted } = fromBinary(TagChangedSchema, value);
    return { subject: `tag ${tagId}`, version, isDeletion: deleted, agentId: undefined, ...unchanged };
  }
  const change = fromBinary(TicketChangedSchema, value);
  const { ticketId, version, type, changes } = change;
  const findNewValue = (name: string) => {
    const given = changes.find(({ field }) => field === name)?.newValue;
    return given && toJson(ValueSchema, given);
  };
  const agentId = findNewValue('agentId');
  const status = findNewValue('status');
  return {
    subject: `ticket ${ticketId}`,
    version,
    isDeletion: type === TicketChangeType.TICKET_DELETED,
    agentId: typeof agentId === 'number' ? agentId : undefined,
    status: typeof status === 'string' ? status : undefined,
    isReopening: change.autoOpenedDueToDueDate,
    event: parseTicketEvent(encodeChange(change)),
  };
}

async function readTickets(get: Get): Promise<ShownTicket[]> {
  const tickets: ShownTicket[] = [];
  let cursor: unknown;
  do {
    const order = { limit: pageOfTickets, orderByField: 't.id', orderByDirection: 'asc' };
    const page = await get('POST', '/ticket/search', { ...order, ...(cursor ? { cursor } : {}) });
    tickets.push(...objectsIn(page, 'tickets').flatMap(shownTicket));
    cursor = isObject(page) ? page.nextCursor : undefined;
  } while (cursor);
  return tickets;
}

function shownTicket(response: JsonObject): ShownTicket[] {
  const state = toState(response);
  const tags = objectsIn(response, 'tags').sort((left, right) => Number(left.id) - Number(right.id));
  return state ? [{ ...state, tagNames: tags.map(({ name }) => String(name)).join(', ') }] : [];
}

function analysedTicket(response: unknown): AnalysedTicket {
  const aiSupportLevel = isObject(response) ? String(response.aiSupportLevel) : 'not shown';
  return { aiSupportLevel, intents: objectsIn(response, 'intents').map(shownIntent) };
}

function shownIntent({ id, status, outcome }: JsonObject): ShownIntent {
  return {
    id: Number(id),
    status: String(status),
    outcome: isObject(outcome) ? { txId: String(outcome.txId), success: outcome.success === true } : undefined,
  };
}

async function readConversations(get: Get, ticketId: number): Promise<ShownMessage[]> {
  const messages: ShownMessage[] = [];
  for (;;) {
    const query = `limit=${pageOfMessages}&offset=${messages.length}`;
    const page = await get('GET', `/ticket/${ticketId}/conversation?${query}`);
    messages.push(...objectsIn(page, 'conversations').map(shownMessage));
    if (!isObject(page) || messages.length >= Number(page.total)) return messages;
  }
}

function shownMessage(conversation: JsonObject): ShownMessage {
  const { id, ticketId, body, direction, isDraft, deliveryStatus, externalConversationId } = conversation;
  return {
    id: Number(id),
    ticketId: Number(ticketId),
    marker: findMarker(String(body)),
    direction: String(direction),
    isDraft: isDraft === true,
    deliveryStatus: String(deliveryStatus),
    externalId: typeof externalConversationId === 'string' ? externalConversationId : undefined,
    files: objectsIn(conversation, 'attachments').length,
  };
}

async function readTags(get: Get): Promise<Map<number, string>> {
  const response = await get('GET', `/tag?limit=${pageOfTags}`);
  return new Map(objectsIn(response, 'tags').map(({ id, name }) => [Number(id), String(name)]));
}

interface ReadRow {
  row: ShownRow;
  counts: MessageCounts;
}

async function readRows(get: Get): Promise<ReadRow[]> {
  const rows: ReadRow[] = [];
  for (;;) {
    const query = `format=json&orderByField=id&orderByDirection=asc&limit=${pageOfRows}&offset=${rows.length}`;
    const page = objectsIn({ rows: await get('GET', `/export/reporting_tickets?${query}`) }, 'rows');
    rows.push(...page.map((row) => ({ row: shownRow(row), counts: toCounts(row) })));
    if (page.length < pageOfRows) return rows;
  }
}

function toCounts({ incomingMessages, outgoingMessages, internalMessages }: JsonObject): MessageCounts {
  return { in: Number(incomingMessages), out: Number(outgoingMessages), internal: Number(internalMessages) };
}

function shownRow({ id, status, priority, allTags, rawData }: JsonObject): ShownRow {
  const ticket = parseJson(String(rawData));
  return {
    id: Number(id),
    version: isObject(ticket) ? Number(ticket.version) : 0,
    status: String(status),
    priority: String(priority),
    tagNames: typeof allTags === 'string' ? allTags : '',
  };
}
