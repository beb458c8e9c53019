import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fromBinary, toJson } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { TagChangedSchema } from '@ticketing/contracts/ticketing/events/v1/tag_changed_pb.ts';
import { TicketChangedSchema, TicketChangeType } from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { tagChangedTopic, ticketChangedTopic } from '@ticketing/contracts/topics.ts';
import type { IncomingMessage } from '@ticketing/events/bus/bus.ts';
import { openBus } from '@ticketing/events/bus/bus-config.ts';
import { messageEncoder } from '@ticketing/rest/encode.ts';
import type { Environment } from '@ticketing/runtime/config-reader.ts';
import { createLogger } from '@ticketing/runtime/logger.ts';
import { services } from '@ticketing/system/services.ts';
import { sharedConfig } from '@ticketing/testkit/shared-config.ts';
import { HttpTransport } from '../../tools/import/http-transport.ts';
import { isObject, type JsonObject, objectsIn, parseJson } from '../../tools/import/json.ts';
import { stateOf } from './load.ts';
import { ticketEventOf } from './subscriber.ts';
import type { Observed, ReadMessage, ShownRow, ShownTicket } from './verdict.ts';

const pageOfTickets = 500;
const pageOfRows = 1000;
const pageOfTags = 1000;
const pollMs = 200;
const timeoutMs = 60_000;

/** Reads all events, tickets, tags and rows of an idle system. Errors: throws on any response that is not 200. */
export async function observe(url: URL, token: string, environment: Environment): Promise<Observed> {
  const transport = new HttpTransport(url, token, 1, timeoutMs);
  const get = async (method: string, path: string, content?: object): Promise<unknown> => {
    const body = content ? { body: JSON.stringify(content) } : {};
    const response = await transport.send({ method, path, ...body, wantsBody: true });
    if (response.status === 200) return parseJson(response.text);
    throw new Error(`${method} ${path} responds with ${response.status}: ${response.text.slice(0, 300)}`);
  };
  try {
    const messages = await readMessages(environment);
    return { messages, tickets: await readTickets(get), tags: await readTags(get), rows: await readRows(get) };
  } finally {
    transport.close();
  }
}

const encodeChange = messageEncoder(TicketChangedSchema);

type Get = (method: string, path: string, content?: object) => Promise<unknown>;

/** Reads both topics from their start, as a consumer group of its own. */
async function readMessages(environment: Environment): Promise<ReadMessage[]> {
  const publisher = services.find(({ publishes }) => publishes.length > 0);
  const config = publisher && sharedConfig(publisher, environment);
  if (!config?.bus) throw new Error('No service publishes events.');
  const bus = await openBus(config.bus, 'faults', createLogger('faults', 'silent'));
  const topics = [ticketChangedTopic.name, tagChangedTopic.name];
  const group = `faults-${randomUUID()}`;
  // By topic, partition and offset, because a message that is delivered twice to this group counts as one.
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
  return [...read.values()].map(messageOf);
}

function messageOf({ topic, value }: IncomingMessage): ReadMessage {
  if (topic === tagChangedTopic.name) {
    const { tagId, version, deleted } = fromBinary(TagChangedSchema, value);
    return { subject: `tag ${tagId}`, version, isDeletion: deleted, agentId: undefined, event: undefined };
  }
  const change = fromBinary(TicketChangedSchema, value);
  const { ticketId, version, type, changes } = change;
  const given = changes.find(({ field }) => field === 'agentId')?.newValue;
  const agentId = given && toJson(ValueSchema, given);
  return {
    subject: `ticket ${ticketId}`,
    version,
    isDeletion: type === TicketChangeType.TICKET_DELETED,
    agentId: typeof agentId === 'number' ? agentId : undefined,
    event: ticketEventOf(encodeChange(change)),
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
  const state = stateOf(response);
  const tags = objectsIn(response, 'tags').sort((left, right) => Number(left.id) - Number(right.id));
  return state ? [{ ...state, tagNames: tags.map(({ name }) => String(name)).join(', ') }] : [];
}

async function readTags(get: Get): Promise<Map<number, string>> {
  const response = await get('GET', `/tag?limit=${pageOfTags}`);
  return new Map(objectsIn(response, 'tags').map(({ id, name }) => [Number(id), String(name)]));
}

async function readRows(get: Get): Promise<ShownRow[]> {
  const rows: ShownRow[] = [];
  for (;;) {
    const query = `format=json&orderByField=id&orderByDirection=asc&limit=${pageOfRows}&offset=${rows.length}`;
    const page = objectsIn({ rows: await get('GET', `/export/reporting_tickets?${query}`) }, 'rows');
    rows.push(...page.map(shownRow));
    if (page.length < pageOfRows) return rows;
  }
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
