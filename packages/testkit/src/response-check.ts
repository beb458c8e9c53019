import type { OpenApiDocument } from '@ticketing/rest/openapi.ts';
import { problemMediaType } from '@ticketing/rest/problem.ts';
import { type ListedResponse, operationFinder, type PathOperations } from './operation-finder.ts';
import { type SchemaCheck, schemaChecker } from './schema-check.ts';

/** A response as a client received it, and what it is the response to. */
export interface ReceivedResponse {
  method: string;
  /** The path of the request; a query is ignored. */
  path: string;
  status: number;
  headers: Headers;
  body: Uint8Array;
}

/** Throws an error that lists every difference between a response and the document. */
export type ResponseCheck = (response: ReceivedResponse) => void;

/** The statuses with which a server refuses a request before it looks for an operation, or whatever operation it is. */
const statusesOfConnection = [408, 431];
/** The statuses of a request that reaches no operation, beside 404 and 405. */
const statusesWithoutOperation = [400, 401, 403, 413, 415, 429, 500, 502, 503, 504, ...statusesOfConnection];
/** Pages beside the API: they are in no document. */
const pages = /^\/(?:healthz|readyz|metrics|openapi\.json|docs(?:\/.*)?)$/;

/**
 * Makes the check of responses against an OpenAPI document: the status is listed, the body fits its schema and has no
 * other keys, the media type is a listed one, and headers fit theirs. A path that no operation has must be responded to
 * with 404, a method that the path does not have with 405 and `Allow`.
 */
export function responseChecker(document: OpenApiDocument): ResponseCheck {
  const findOperations = operationFinder(document);
  const checkSchema = schemaChecker(document);
  return (response) => {
    const [path = ''] = response.path.split('?', 1);
    const differences = differencesOf({ ...response, path }, findOperations(path), checkSchema);
    if (differences.length === 0) return;
    const text = new TextDecoder().decode(response.body.subarray(0, 1000));
    const lines = differences.map((difference) => `- ${difference}`);
    throw new Error(
      `${response.method} ${response.path} responds with ${response.status}, and not as the OpenAPI document says:\n` +
        `${lines.join('\n')}\nbody: ${text}`,
    );
  };
}

const problemResponse: ListedResponse = {
  content: { [problemMediaType]: { schema: { $ref: '#/components/schemas/Problem' } } },
};

function differencesOf(
  response: ReceivedResponse,
  operations: PathOperations | undefined,
  checkSchema: SchemaCheck,
): string[] {
  const { path, status } = response;
  const isProblem = mediaTypeOf(response) === problemMediaType;
  if (!operations && pages.test(path)) {
    return isProblem ? [...checkContent(response, problemResponse, checkSchema), ...checkAllow(response)] : [];
  }
  const responses = operations?.responsesOf(response.method);
  if (responses && !statusesOfConnection.includes(status)) {
    const listed = responses[status];
    if (!listed) return [`the status is not listed; listed are ${Object.keys(responses).join(', ')}`];
    return [...checkHeaders(response, listed, checkSchema), ...checkContent(response, listed, checkSchema)];
  }
  const problems = [
    ...checkContent(response, problemResponse, checkSchema),
    ...checkAllow(response, operations?.methods),
  ];
  const expected = operations ? 405 : 404;
  if (responses || status === expected || statusesWithoutOperation.includes(status)) return problems;
  const reason = operations ? 'the path has other methods only' : 'no operation has this path';
  return [`the status is not ${expected}, although ${reason}`, ...problems];
}

function checkAllow({ status, headers }: ReceivedResponse, methods?: readonly string[]): string[] {
  if (status !== 405) return [];
  const allowed = headers.get('allow');
  if (!allowed) return ['the header Allow is missing'];
  const isRight = methods === undefined || allowed.split(', ').sort().join() === [...methods].sort().join();
  return isRight ? [] : [`the header Allow is ${allowed}, but the path has ${methods?.join(', ')}`];
}

function checkHeaders({ headers }: ReceivedResponse, listed: ListedResponse, checkSchema: SchemaCheck): string[] {
  return Object.entries(listed.headers ?? {}).flatMap(([name, { required, schema }]) => {
    const text = headers.get(name);
    if (text === null) return required ? [`the header ${name} is missing`] : [];
    const isNumber = schema.type === 'integer' || schema.type === 'number';
    const value = isNumber && text !== '' ? Number(text) : text;
    return checkSchema(schema, value).map((difference) => `the header ${name} (${text}): ${difference}`);
  });
}

function checkContent(response: ReceivedResponse, { content }: ListedResponse, checkSchema: SchemaCheck): string[] {
  const { method, status, body } = response;
  if (!content) return body.length === 0 ? [] : ['the body is not empty, but none is listed'];
  const mediaType = mediaTypeOf(response);
  const listed = content[mediaType];
  // There may be no type where there is no content.
  if (method === 'HEAD' && mediaType === '') return [];
  if (!listed) return [`the media type is ${mediaType || 'missing'}; listed are ${Object.keys(content).join(', ')}`];
  if (method === 'HEAD') return body.length === 0 ? [] : ['the body is not empty, but the request is HEAD'];
  if (!mediaType.endsWith('json')) return body.length > 0 ? [] : ['the body is empty'];
  const value = parse(body);
  if (value === undefined) return ['the body is not JSON'];
  const differences = checkSchema(listed.schema, value);
  const said = mediaType === problemMediaType ? (value as { status?: unknown }).status : status;
  return said === status ? differences : [...differences, `the problem document says ${String(said)}`];
}

function mediaTypeOf({ headers }: ReceivedResponse): string {
  const [type = ''] = (headers.get('content-type') ?? '').split(';', 1);
  return type.trim().toLowerCase();
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}
