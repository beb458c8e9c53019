import type { DescEnum, DescMessage, JsonObject, JsonValue } from '@bufbuild/protobuf';
import { readSpellings } from '../codec/options.ts';
import { findComments } from './comments.ts';
import { type Schema, SchemaWriter } from './openapi-schema.ts';
import { protoText } from './proto-text.ts';

/** An AsyncAPI 3.0 document, as plain JSON. */
export interface AsyncApiDocument {
  asyncapi: '3.0.0';
  info: { title: string; version: string; description: string; license: { name: string; url: string } };
  defaultContentType: string;
  channels: Record<string, JsonObject>;
  operations: Record<string, JsonObject>;
  components: {
    messages: Record<string, JsonObject>;
    schemas: Record<string, Schema>;
    securitySchemes: Record<string, JsonObject>;
  };
}

/** A topic of the bus, and its messages. */
export interface DescribedTopic {
  topic: { name: string; partitions: number };
  /** The message in the values of the topic. */
  message: DescMessage;
  /** The description of the key of a message. */
  key: string;
  /** The possible values of `ce_type`. */
  types: readonly string[];
  /** The value of `ce_source`. */
  source: string;
}

/** The events that other systems receive by webhook, and read in the feed. */
export interface DescribedNotifications {
  event: DescMessage;
  /** The types of the events, spelled as in JSON. */
  types: DescEnum;
  /** The type of the message that tests an endpoint. */
  testType: string;
  /** The path of the feed, and the right that its readers need. */
  feed: { path: string; right: string };
}

/** The parts of the system that a document describes. */
export interface AsyncApiOptions {
  title: string;
  version: string;
  topics: readonly DescribedTopic[];
  notifications: DescribedNotifications;
}

/**
 * Describes the events of the system from their contracts: the topics of the bus, the webhook messages and the feed.
 *
 * Source: docs/reference/api.md, Events; docs/reference/api.md, Webhooks; docs/reference/api.md, Feed of changes.
 */
export function asyncApiDocument({ title, version, topics, notifications }: AsyncApiOptions): AsyncApiDocument {
  const schemas = new SchemaWriter();
  const document: AsyncApiDocument = {
    asyncapi: '3.0.0',
    info: {
      title,
      version,
      description:
        'The events of the system: on the bus for other services, as webhooks and in a feed for other systems. All are delivered at least once, and for each ticket in order.',
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    defaultContentType: 'application/json',
    channels: {},
    operations: {},
    components: { messages: {}, schemas: {}, securitySchemes: { ...securitySchemes } },
  };
  for (const topic of topics) addTopic(document, topic);
  addWebhooks(document, notifications, schemas);
  addFeed(document, notifications, schemas);
  document.components.schemas = withPlainReferences(schemas.components) as Record<string, Schema>;
  return document;
}

/** A channel with its one operation, which sends its messages. */
interface Channel {
  name: string;
  channel: JsonObject;
  operation: JsonObject & { summary: string };
  messages: Record<string, JsonObject>;
}

function addChannel({ channels, operations, components }: AsyncApiDocument, added: Channel): void {
  const { name, channel, operation, messages } = added;
  const names = Object.keys(messages);
  Object.assign(components.messages, messages);
  channels[name] = {
    ...channel,
    messages: Object.fromEntries(names.map((one) => [one, { $ref: `#/components/messages/${one}` }])),
  };
  operations[`send${upperFirst(name)}`] = {
    action: 'send',
    channel: { $ref: `#/channels/${name}` },
    ...operation,
    messages: names.map((one) => ({ $ref: `#/channels/${name}/messages/${one}` })),
  };
}

function addTopic(document: AsyncApiDocument, { topic, message, key, types, source }: DescribedTopic): void {
  const name = lowerFirst(message.name);
  const { summary, text } = findComments(message);
  const headers = objectSchema({
    ce_specversion: { const: '1.0' },
    ce_id: { type: 'string', description: 'The id of the event: `evt_…`, ordered by time.' },
    ce_type: { type: 'string', enum: [...types] },
    ce_source: { const: source },
    ce_subject: { type: 'string', description: key },
    ce_time: { type: 'string', format: 'date-time' },
    'content-type': { const: 'application/protobuf' },
  });
  const traceparent = { type: 'string', description: 'The trace of the request that caused the event (W3C).' };
  addChannel(document, {
    name,
    channel: {
      address: topic.name,
      description: text,
      bindings: { kafka: { topic: topic.name, partitions: topic.partitions, bindingVersion: '0.5.0' } },
    },
    operation: { summary },
    messages: {
      [name]: {
        name,
        title: message.name,
        summary,
        description: 'CloudEvents 1.0 in binary mode: the attributes of the event are headers.',
        contentType: 'application/protobuf',
        headers: { ...headers, properties: { ...(headers.properties as JsonObject), traceparent } },
        payload: {
          schemaFormat: 'application/vnd.google.protobuf;version=3',
          schema: protoText(message),
        },
        bindings: { kafka: { key: { type: 'string', description: key }, bindingVersion: '0.5.0' } },
      },
    },
  });
}

function addWebhooks(document: AsyncApiDocument, notifications: DescribedNotifications, schemas: SchemaWriter): void {
  const { event, types, testType } = notifications;
  const data = schemas.output(event);
  const descriptions = new Map(
    types.values.map((value) => [readSpellings(types).get(value.number), findComments(value).text]),
  );
  const messages = [...readSpellings(types).values()].map((type) =>
    webhookMessage(type, descriptions.get(type) ?? '', {
      allOf: [data, { type: 'object', properties: { type: { const: type } } }],
    }),
  );
  const test = webhookMessage(
    testType,
    'A message that a person has requested to test the endpoint.',
    objectSchema({ webhookId: { type: 'integer', description: 'The endpoint.' } }),
  );
  addChannel(document, {
    name: 'webhook',
    channel: {
      // There is no address: it is known at run time only.
      description:
        'Requests to the URL of a webhook endpoint (Standard Webhooks 1.0.0). Only a 2xx response is a success; others are repeated for 24 hours.',
    },
    operation: {
      summary: 'Sends changes of tickets to the webhook endpoints',
      bindings: { http: { method: 'POST', bindingVersion: '0.3.0' } },
    },
    messages: Object.fromEntries([...messages, test].map((message) => [`webhook.${String(message.name)}`, message])),
  });
}

function webhookMessage(type: string, summary: string, data: Schema): JsonObject {
  return {
    name: type,
    title: type,
    summary,
    contentType: 'application/json',
    headers: objectSchema({
      'webhook-id': { type: 'string', description: 'The id of the event, the same at every attempt.' },
      'webhook-timestamp': {
        type: 'string',
        pattern: '^[0-9]+$',
        description: 'The time of the attempt, Unix seconds.',
      },
      'webhook-signature': {
        type: 'string',
        pattern: '^v1,[A-Za-z0-9+/]+=*( v1,[A-Za-z0-9+/]+=*)*$',
        description: 'HMAC-SHA256 over `id.timestamp.body` with each live secret, in base64.',
      },
    }),
    payload: objectSchema({
      type: { const: type },
      timestamp: { type: 'string', format: 'date-time', description: 'When the event happened.' },
      data,
    }),
  };
}

function addFeed(document: AsyncApiDocument, { event, feed }: DescribedNotifications, schemas: SchemaWriter): void {
  addChannel(document, {
    name: 'feed',
    channel: {
      address: feed.path,
      description: `The events of the last 30 days and then each new one, as server-sent events. \`GET ${feed.path}\` with \`Accept: text/event-stream\`; without it, the same path returns pages. Needs the right \`${feed.right}\`.`,
    },
    operation: {
      summary: 'Sends changes of tickets to the readers of the feed',
      security: [{ $ref: '#/components/securitySchemes/bearerAuth' }],
      bindings: { http: { method: 'GET', bindingVersion: '0.3.0' } },
    },
    messages: {
      feedEvent: {
        name: 'feedEvent',
        title: 'Event of the feed',
        summary: 'A change of a ticket',
        description:
          'The `id` of the server-sent event is the cursor after it, with which `Last-Event-ID` continues; its `event` is the type; its `data` is this payload.',
        contentType: 'application/json',
        payload: schemas.output(event),
      },
    },
  });
}

/** Moves references with other members into `allOf`: AsyncAPI allows no such members, unlike OpenAPI 3.1. */
function withPlainReferences(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withPlainReferences);
  if (typeof value !== 'object' || value === null) return value;
  const { $ref, ...rest } = Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, withPlainReferences(inner)]),
  );
  if ($ref === undefined) return rest;
  return Object.keys(rest).length === 0 ? { $ref } : { allOf: [{ $ref }], ...rest };
}

function objectSchema(properties: Record<string, Schema>): Schema {
  return { type: 'object', properties, required: Object.keys(properties) };
}

const upperFirst = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);
const lowerFirst = (name: string) => name.charAt(0).toLowerCase() + name.slice(1);

const securitySchemes: Record<string, JsonObject> = {
  bearerAuth: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'The same token as for the REST API.',
  },
};
