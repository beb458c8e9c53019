import { problemMediaType } from '@ticketing/rest/codec/problem.ts';
import type { OpenApiDocument } from '@ticketing/rest/documents/openapi.ts';
import { type ListedResponse, operationFinder, type PathOperations } from './operation-finder.ts';
import { type SchemaCheck, schemaChecker } from './schema-check.ts';

/** A response as a client received it, with the method and path of its request. */
export interface ReceivedResponse {
  method: string;
  /** The path of the request; a query is ignored. */
  path: string;
  status: number;
  headers: Headers;
  body: Uint8Array;
}

/** Checks a response. Errors: an error that lists every difference from the OpenAPI document. */
export type ResponseCheck = (response: ReceivedResponse) => void;

/** The statuses with which a server refuses a request that does not arrive. No operation lists them. */
const statusesOfConnection = [408];
/** The statuses of requests that reach no operation, besides 404 and 405. */
const statusesWithoutOperation = [400, 401, 403, 413, 415, 429, 431, 500, 502, 503, 504, ...statusesOfConnection];
/** The paths that are not part of the API and in no document. */
const pages = /^\/(?:|healthz|readyz|metrics|(?:open|async)api\.json|docs(?:\/.*)?)$/;

/**
 * Makes a check of responses against an OpenAPI document: the status, the media type and the codes of a problem are
 * listed, the body fits its schema and has no other keys, and the headers fit theirs. The response for an unknown path must be 404, and for an
 * unknown method of a known path 405 with `Allow`.
 */
export function responseChecker(document: OpenApiDocument): ResponseCheck {
  const findOperations = operationFinder(document);
  const checkSchema = schemaChecker(document);
  return (response) => {
    const [path = ''] = response.path.split('?', 1);
    const differences = findDifferences({ ...response, path }, findOperations(path), checkSchema);
    if (differences.length === 0) return;
    const text = new TextDecoder().decode(response.body.subarray(0, 1000));
    const lines = differences.map((difference) => `- ${difference}`);
    throw new Error(
      `${response.method} ${response.path} responds with ${response.status}, which differs from the OpenAPI document:\n` +
        `${lines.join('\n')}\nbody: ${text}`,
    );
  };
}

const problemResponse: ListedResponse = {
  content: { [problemMediaType]: { schema: { $ref: '#/components/schemas/Problem' } } },
};

function findDifferences(
  response: ReceivedResponse,
  operations: PathOperations | undefined,
  checkSchema: SchemaCheck,
): string[] {
  const { path, status } = response;
  const isProblem = readMediaType(response) === problemMediaType;
  if (!operations && pages.test(path)) {
    return isProblem ? [...checkContent(response, problemResponse, checkSchema), ...checkAllow(response)] : [];
  }
  const responses = operations?.findResponses(response.method);
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
  const isComplete = methods === undefined || allowed.split(', ').sort().join() === [...methods].sort().join();
  return isComplete ? [] : [`the header Allow is ${allowed}, but the path has ${methods?.join(', ')}`];
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

function checkContent(
  response: ReceivedResponse,
  { content, codes }: ListedResponse,
  checkSchema: SchemaCheck,
): string[] {
  const { method, status, body } = response;
  if (!content) return body.length === 0 ? [] : ['the body is not empty, but none is listed'];
  const mediaType = readMediaType(response);
  const listed = content[mediaType] ?? content['*/*'];
  // A response to HEAD may have no media type, because it has no content.
  if (method === 'HEAD' && mediaType === '') return [];
  if (!listed) return [`the media type is ${mediaType || 'missing'}; listed are ${Object.keys(content).join(', ')}`];
  if (method === 'HEAD') return body.length === 0 ? [] : ['the body is not empty, but the request is HEAD'];
  if (!(mediaType in content)) return [];
  // A file may be empty.
  if ('*/*' in content && !mediaType.endsWith('json')) return [];
  if (!mediaType.endsWith('json')) return body.length > 0 ? [] : ['the body is empty'];
  const value = parse(body);
  if (value === undefined) return ['the body is not JSON'];
  const differences = checkSchema(listed.schema, value);
  return mediaType === problemMediaType ? [...differences, ...checkProblem(value, status, codes)] : differences;
}

function checkProblem(value: unknown, status: number, codes: readonly string[] | undefined): string[] {
  const problem = value as { status?: unknown; code?: unknown; errors?: { code: unknown }[] };
  const stated = [problem.code, ...(problem.errors ?? []).map(({ code }) => code)].map(String);
  const unlisted = codes ? stated.filter((code) => !codes.includes(code)) : [];
  return [
    ...(problem.status === status ? [] : [`the problem document has the status ${String(problem.status)}`]),
    ...[...new Set(unlisted)].map((code) => `the code ${code} is not listed`),
  ];
}

function readMediaType({ headers }: ReceivedResponse): string {
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
