import {
  type DescField,
  type DescMessage,
  type DescMethod,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  fromJson,
  type JsonObject,
  type JsonValue,
  type Message,
} from '@bufbuild/protobuf';
import { ConnectError, type Transport } from '@connectrpc/connect';
import { ProblemSchema } from '@ticketing/contracts/ticketing/api/v1/problem_pb.ts';
import { readFieldRules, readJsonForm, readRestRule, readSpellings } from '@ticketing/rest/codec/options.ts';
import { withoutShownOnce } from '@ticketing/rest/codec/shown-once.ts';
import { type Binding, toBinding } from '@ticketing/rest/routes/request-reader.ts';

/** A request as an object with the names of the fields in JSON. */
export type FieldRequest = JsonObject;

/** How a service responded, over REST or RPC. */
export interface FieldResponse {
  /** The returned value, without the trace id of a problem. Undefined after an RPC error. */
  body: unknown;
  /** The reason of the error; undefined for a success. */
  reason: string | undefined;
  violations: readonly { pointer: string; code: string }[];
  isReplayed: boolean;
}

/** One of the APIs of a service. */
export interface Api {
  name: 'REST' | 'RPC';
  send(method: DescMethod, request: FieldRequest, headers?: Record<string, string>): Promise<FieldResponse>;
  /** The pointer of a violation of the field that steps lead to. */
  toPointer(method: DescMethod, steps: readonly string[]): string;
  /** The value of an enum as it is written in a request. */
  spell(number: number, spelling: string): string | number;
}

/** The REST API at a port. `tokenOf` returns the token for a method. */
export function restApi(port: number, tokenOf: (method: DescMethod) => Promise<string>): Api {
  return {
    name: 'REST',
    spell: (_number, spelling) => spelling,
    toPointer: (method, steps) => restPointer(bindingOfMethod(method), steps),
    async send(method, request, headers) {
      const { url, body } = restRequest(method, request);
      const response = await fetch(`http://127.0.0.1:${port}${url}`, {
        method: readRestRule(method)?.method ?? 'GET',
        headers: {
          authorization: `Bearer ${await tokenOf(method)}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const isReplayed = response.headers.get('idempotency-replayed') === 'true';
      if (response.ok) return { body: text, reason: undefined, violations: [], isReplayed };
      const { traceId, ...problem } = JSON.parse(text);
      return { body: problem, reason: problem.code, violations: problem.errors ?? [], isReplayed };
    },
  };
}

/** The RPC API behind a transport. */
export function rpcApi(transport: Transport, tokenOf: (method: DescMethod) => Promise<string>): Api {
  return {
    name: 'RPC',
    spell: (number) => number,
    toPointer: (_method, steps) => `#/${steps.join('/')}`,
    async send(method, request, headers) {
      const header = { authorization: `Bearer ${await tokenOf(method)}`, ...headers };
      try {
        const { messages, responseHeaders } = await callRpc(transport, method, request, header);
        const isReplayed = responseHeaders.get('idempotency-replayed') === 'true';
        return { body: messages, reason: undefined, violations: [], isReplayed };
      } catch (error) {
        const [problem] = ConnectError.from(error).findDetails(ProblemSchema);
        if (!problem) throw error;
        return { body: undefined, reason: problem.reason, violations: problem.errors, isReplayed: false };
      }
    },
  };
}

/** Calls a method that has one message in its request. Errors: ConnectError. */
export async function callRpc(
  transport: Transport,
  method: DescMethod,
  request: FieldRequest,
  header: Record<string, string> = {},
): Promise<{ messages: Message[]; responseHeaders: Headers }> {
  const message = fromJson(method.input, request);
  if (method.methodKind === 'unary') {
    const response = await transport.unary(method as DescMethodUnary, undefined, timeoutMs, header, message);
    return { messages: [response.message], responseHeaders: response.header };
  }
  const sent = (async function* () {
    yield message;
  })();
  const response = await transport.stream(method as DescMethodServerStreaming, undefined, timeoutMs, header, sent);
  const messages: Message[] = [];
  for await (const received of response.message) messages.push(received);
  return { messages, responseHeaders: response.header };
}

const timeoutMs = 10_000;

/** The smallest request that the rules of a contract accept; `choice` varies its enums and texts. */
export function smallestRequest(message: DescMessage, api: Api, choice = 0): FieldRequest {
  const required = message.fields.filter(
    (field) =>
      readFieldRules(field).required ||
      (readFieldRules(field).minItems ?? 0) > 0 ||
      (isMask(field) && api.name === 'RPC'),
  );
  return Object.fromEntries(
    required.map((field) => {
      const value = smallestValue(field, api, choice);
      return [
        field.jsonName,
        field.fieldKind === 'list' ? Array(readFieldRules(field).minItems || 1).fill(value) : value,
      ];
    }),
  );
}

/** Whether a field is an `update_mask`, which the REST API fills. */
const isMask = (field: DescField) => field.message?.typeName === 'google.protobuf.FieldMask';

function smallestValue(field: DescField, api: Api, choice: number) {
  const rules = readFieldRules(field);
  if (field.enum) {
    const spellings = [...readSpellings(field.enum)];
    return api.spell(...(spellings[choice % spellings.length] ?? [0, '']));
  }
  if (isMask(field)) return '';
  if (field.message?.typeName === 'google.protobuf.Timestamp') return '2026-01-01T00:00:00Z';
  if (field.message) return smallestRequest(field.message, api, choice);
  if (rules.minimum !== undefined || rules.maximum !== undefined) return Number(rules.minimum ?? 1);
  // Such a text has no format in its contract: the service itself says what is wrong with it.
  if (field.name === 'url') return 'https://example.org';
  if (rules.format) return { email: 'a@example.org', uri: 'https://example.org' }[rules.format] ?? anyId;
  return rules.in[0] ?? String.fromCharCode(97 + choice).repeat(rules.minLength ?? 1);
}

/** A valid value for a field in a path. */
export function idFor(field: DescField): string | number {
  return field.scalar === undefined || readFieldRules(field).minimum === undefined ? anyId : 1;
}

const anyId = '00000000-0000-4000-8000-000000000000';

/** The body of a response when it is sent again, without the values that are shown only once. */
export function replayedBody(method: DescMethod, body: unknown): unknown {
  if (Array.isArray(body)) return body.map((message: Message) => withoutShownOnce(method.output, message));
  if (typeof body !== 'string') return body;
  const hidden = shownOnceIn(method.output);
  return JSON.stringify(JSON.parse(body, (key, value) => (hidden.includes(key) ? null : value)));
}

function shownOnceIn(message: DescMessage, seen = new Set<DescMessage>()): string[] {
  if (seen.has(message)) return [];
  seen.add(message);
  return message.fields.flatMap((field) => {
    if (readJsonForm(field).shownOnce) return field.jsonName;
    return field.message ? shownOnceIn(field.message, seen) : [];
  });
}

/** The ways that lead from a message through the fields of a request to those that a condition selects. */
export function pathsTo(
  message: DescMessage,
  isWanted: (field: DescField) => boolean,
  above: DescMessage[] = [],
): DescField[][] {
  if (above.includes(message)) return [];
  return message.fields.flatMap((field) => [
    ...(isWanted(field) ? [[field]] : []),
    ...(field.message ? pathsTo(field.message, isWanted, [...above, message]).map((path) => [field, ...path]) : []),
  ]);
}

/** The names of the fields of a path, as a pointer has them. */
export const toSteps = (path: readonly DescField[]) =>
  path.flatMap(({ fieldKind, jsonName }) => (fieldKind === 'list' ? [jsonName, '0'] : [jsonName]));

/** An object with a value at the end of a path. */
export function nested([field, ...rest]: readonly DescField[], value: JsonValue): JsonObject {
  const inner = !field || rest.length === 0 ? value : nested(rest, value);
  return field ? { [field.jsonName]: field.fieldKind === 'list' ? [inner] : inner } : {};
}

/** Whether a field was refused for what it contains. */
export function isRefused({ violations }: FieldResponse, pointer: string, codes: readonly string[]): boolean {
  return violations.some(({ pointer: at, code }) => at === pointer && codes.includes(code));
}

function bindingOfMethod(method: DescMethod): Binding {
  const rule = readRestRule(method);
  if (!rule) throw new Error(`${method.toString()} has no route.`);
  return toBinding(method, rule);
}

function restRequest(method: DescMethod, request: FieldRequest): { url: string; body: unknown } {
  const binding = bindingOfMethod(method);
  const path = readRestRule(method)?.path ?? '';
  const filled = binding.path.reduce((url, field) => {
    return url.replace(`{${field.name}}`, String(request[field.jsonName] ?? idFor(field)));
  }, path);
  const query = new URLSearchParams();
  for (const { jsonName } of binding.query) {
    if (request[jsonName] !== undefined) query.set(jsonName, String(request[jsonName]));
  }
  const elsewhere = [...binding.path, ...binding.query].map(({ jsonName }) => jsonName);
  const body =
    binding.body === '*'
      ? Object.fromEntries(Object.entries(request).filter(([name]) => !elsewhere.includes(name)))
      : binding.body && request[binding.body.jsonName];
  return { url: `${filled}?${query}`, body };
}

function restPointer({ path, query, body }: Binding, [first = '', ...rest]: readonly string[]): string {
  const isIn = (fields: readonly DescField[]) => fields.some(({ jsonName }) => jsonName === first);
  if (isIn(path)) return `#/path/${first}`;
  if (isIn(query)) return `#/query/${first}`;
  return body === '*' ? `#/${[first, ...rest].join('/')}` : `#/${rest.join('/')}`;
}
