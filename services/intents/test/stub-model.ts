import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request for an answer, as a model gets it. */
export interface ModelRequest {
  model: string;
  messages: { role: string; content: string }[];
  response_format: { type: string; json_schema: { name: string; strict: boolean; schema: JsonSchema } };
  [name: string]: unknown;
}

/** The parts of JSON Schema that requests use. */
export interface JsonSchema {
  type: string;
  enum?: string[];
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
  minimum?: number;
  maximum?: number;
}

/** An endpoint that is compatible with OpenAI, for tests. */
export interface StubModel {
  url: string;
  requests: { method: string; path: string; headers: IncomingHttpHeaders; body: ModelRequest }[];
  /** The number of open requests. */
  open(): number;
  respond: (request: ModelRequest, response: ServerResponse, message: IncomingMessage) => void;
  stop(): Promise<void>;
}

/** Starts a stub on a free port. */
export async function startStubModel(): Promise<StubModel> {
  let open = 0;
  const server = createServer(async (message, response) => {
    open += 1;
    response.on('close', () => {
      open -= 1;
    });
    let text = '';
    for await (const part of message) text += part;
    const { method = '', url = '', headers } = message;
    const body = JSON.parse(text) as ModelRequest;
    stub.requests.push({ method, path: url, headers, body });
    stub.respond(body, response, message);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stub: StubModel = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests: [],
    open: () => open,
    respond: answering({}),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return stub;
}

/** The answer of a model about a ticket when nothing else matters. */
export const plainAnswer = {
  language: 'en',
  sentiment: 'neutral',
  summary: 'A question.',
  spam: { isSpam: false, confidence: 0.1 },
  tags: [] as { id: string; confidence: number }[],
};

/** A response of the protocol with this content, and `choice` and `usage` as given. */
export function completion(
  content: string | null,
  choice: object = {},
  usage: unknown = { total_tokens: 700 },
): object {
  const message = { role: 'assistant', content, refusal: null };
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'stub',
    choices: [{ index: 0, finish_reason: 'stop', message, ...choice }],
    usage,
  };
}

/** Responds with an answer that fits the schema of the request, changed as given. */
export function answering(changes: object): StubModel['respond'] {
  return ({ response_format }, response) => {
    const { tags, ...rest } = plainAnswer;
    const answer = response_format.json_schema.schema.properties?.tags ? { ...rest, tags } : rest;
    sendJson(response, completion(JSON.stringify({ ...answer, ...changes })));
  };
}

/**
 * Responds as a model that obeys a text which demands this answer. An endpoint that enforces the schema replaces values
 * that are not allowed; any other sends everything.
 */
export function obeying(demanded: object, enforces: boolean): StubModel['respond'] {
  return ({ response_format }, response) => {
    const answer = enforces ? allowed(response_format.json_schema.schema, demanded) : { ...plainAnswer, ...demanded };
    sendJson(response, completion(JSON.stringify(answer)));
  };
}

/** Restricts a value to the parts that a schema allows. */
function allowed(schema: JsonSchema, value: unknown): unknown {
  const { properties, items } = schema;
  if (properties) {
    const given = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
    return Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, allowed(one, given[name])]));
  }
  if (items) {
    const ids = items.properties?.id?.enum ?? [];
    const list = Array.isArray(value) ? value : [];
    return list.filter((one) => ids.includes(String(one?.id))).map((one) => allowed(items, one));
  }
  if (schema.enum) return schema.enum.includes(value as string) ? value : schema.enum[0];
  if (schema.type === 'number') return Math.min(1, Math.max(0, typeof value === 'number' ? value : 1));
  if (schema.type === 'boolean') return value === true;
  // No model writes for ever.
  return (typeof value === 'string' ? value : JSON.stringify(value ?? '')).slice(0, 10_000);
}

export function sendJson(response: ServerResponse, value: unknown, status = 200, headers: object = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(value));
}
