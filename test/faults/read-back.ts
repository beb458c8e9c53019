import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fromBinary, toJson } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { TagChangedSchema } from '@ticketing/contracts/ticketing/events/v1/tag_changed_pb.ts';
import { TicketChangedSchema, TicketChangeType } from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { tagChangedTopic, ticketChangedTopic } from '@ticketing/contracts/topics.ts';
import type { IncomingMessage } from '@ticketing/events/bus/bus.ts';
import { openBus } from '@ticketing/events/bus/bus-config.ts';
import type { Environment } from '@ticketing/runtime/config-reader.ts';
import { createLogger } from '@ticketing/runtime/logger.ts';
import { readServiceConfig } from '@ticketing/service-kit/config/service-config.ts';
import { serviceNamed } from '@ticketing/system/services.ts';
import { HttpTransport } from '../../tools/import/http-transport.ts';
import { isObject, type JsonObject, objectsIn, parseJson } from '../../tools/import/json.ts';
import { stateOf } from './load.ts';
import type { Observed, ReadMessage, ShownRow, ShownTicket } from './verdict.ts';

const pageOfTickets = 500;
const pageOfRows = 1000;
const pageOfTags = 1000;
const lookEveryMs = 200;
const timeoutMs = 60_000;

/** Reads all that can be seen of a system that is at rest. Errors: an answer that is none. */
export async function observe(url: URL, token: string, environment: Environment): Promise<Observed> {
  const transport = new HttpTransport(url, token, 1, timeoutMs);
  const get = async (method: string, path: string, content?: object): Promise<unknown> => {
    const body = content ? { body: JSON.stringify(content) } : {};
    const answer = await transport.send({ method, path, ...body, wantsBody: true });
    if (answer.status === 200) return parseJson(answer.text);
    throw new Error(`${method} ${path} answers ${answer.status}: ${answer.text.slice(0, 300)}`);
  };
  try {
    const messages = await readMessages(environment);
    return { messages, tickets: await readTickets(get), tags: await readTags(get), rows: await readRows(get) };
  } finally {
    transport.close();
  }
}

type Get = (method: string, path: string, content?: object) => Promise<unknown>;

/** Reads both topics from their start, as a group of its own. */
async function readMessages(environment: Environment): Promise<ReadMessage[]> {
  const config = readServiceConfig(serviceNamed('tickets'), environment, () => ({}));
  if (!config.bus) throw new Error('The tickets service has no bus.');
  const bus = await openBus(config.bus, 'faults', createLogger('faults', 'silent'));
  const topics = [ticketChangedTopic.name, tagChangedTopic.name];
  const group = `faults-${randomUUID()}`;
  // By their places: a message that comes twice to this group is still one on the bus.
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
    while ((await bus.lag(group, topics)) > 0) await sleep(lookEveryMs);
  } finally {
    await bus.close();
  }
  return [...read.values()].map(messageOf);
}

function messageOf({ topic, value }: IncomingMessage): ReadMessage {
  if (topic === tagChangedTopic.name) {
    const { tagId, version, deleted } = fromBinary(TagChangedSchema, value);
    return { subject: `tag ${tagId}`, version, isDeletion: deleted, agentId: undefined };
  }
  const { ticketId, version, type, changes } = fromBinary(TicketChangedSchema, value);
  const given = changes.find(({ field }) => field === 'agentId')?.newValue;
  const agentId = given && toJson(ValueSchema, given);
  return {
    subject: `ticket ${ticketId}`,
    version,
    isDeletion: type === TicketChangeType.TICKET_DELETED,
    agentId: typeof agentId === 'number' ? agentId : undefined,
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

function shownTicket(answer: JsonObject): ShownTicket[] {
  const state = stateOf(answer);
  const tags = objectsIn(answer, 'tags').sort((left, right) => Number(left.id) - Number(right.id));
  return state ? [{ ...state, tagNames: tags.map(({ name }) => String(name)).join(', ') }] : [];
}

async function readTags(get: Get): Promise<Map<number, string>> {
  const answer = await get('GET', `/tag?limit=${pageOfTags}`);
  return new Map(objectsIn(answer, 'tags').map(({ id, name }) => [Number(id), String(name)]));
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
