import type { DescMethod, JsonObject } from '@bufbuild/protobuf';
import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt';
import type { RestRule } from '@ticketing/contracts/ticketing/api/v1/options_pb.ts';
import { ViolationSchema } from '@ticketing/contracts/ticketing/api/v1/problem_pb.ts';
import { takesIdempotencyKey } from '../codec/options.ts';
import { type ProblemDocument, problemMediaType } from '../codec/problem.ts';
import type { Binding } from '../routes/request-reader.ts';
import type { Schema, SchemaWriter } from './openapi-schema.ts';
import { generalCodes, type ProblemStatus, problemStatuses } from './problem-codes.ts';

/** The properties of a route that determine which problems it can return. */
export interface ProblemRoute {
  method: DescMethod;
  rule: RestRule;
  binding: Binding;
}

/** Returns the statuses of the problems that a route can return. */
export function findProblemStatuses({ method, rule, binding }: ProblemRoute): ProblemStatus[] {
  const hasBody = binding.body !== undefined;
  const isWrite = rule.method !== 'GET' && method.idempotency !== MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
  const occurs: Record<ProblemStatus, boolean> = {
    400: hasBody || binding.path.length > 0 || binding.query.length > 0,
    401: true,
    403: true,
    // A request can be repeated after its ticket was deleted.
    404: binding.path.length > 0 || takesIdempotencyKey(method),
    409: isWrite,
    410: false,
    412: isWrite,
    // A request whose contract has no body may be sent with one.
    413: rule.method !== 'GET',
    415: rule.method !== 'GET',
    416: rule.hasRanges,
    422: takesIdempotencyKey(method),
    429: true,
    431: true,
    500: true,
    502: true,
    503: true,
    504: true,
  };
  for (const status of rule.problemStatuses) {
    const known = problemStatuses.find((candidate) => candidate === status);
    if (known === undefined)
      throw new Error(`${method.toString()} names the status ${status}, which is not a status of problems`);
    occurs[known] = true;
  }
  return problemStatuses.filter((status) => occurs[status]);
}

const retryAfter: Record<string, JsonObject> = {
  'Retry-After': { description: 'Seconds to wait.', required: true, schema: { type: 'integer', minimum: 0 } },
};

const problems: Record<ProblemStatus, { name: string; description: string; headers?: Record<string, JsonObject> }> = {
  400: { name: 'BadRequest', description: 'The request is not valid; `errors` lists the invalid parts.' },
  401: {
    name: 'Unauthenticated',
    description: 'The credential is missing or invalid.',
    headers: {
      'WWW-Authenticate': { description: 'How to authenticate.', required: true, schema: { const: 'Bearer' } },
    },
  },
  403: { name: 'Forbidden', description: 'The caller may not do this.' },
  404: { name: 'NotFound', description: 'Something that the request names does not exist.' },
  409: { name: 'Conflict', description: 'The change conflicts with what is stored.' },
  410: { name: 'Gone', description: 'What the request names was removed.' },
  412: { name: 'PreconditionFailed', description: 'The expected version is not the current one.' },
  413: { name: 'ContentTooLarge', description: 'The body is larger than this route accepts.' },
  415: { name: 'UnsupportedMediaType', description: 'The body is not `application/json`.' },
  416: {
    name: 'RangeNotSatisfiable',
    description: 'The file has no byte of the range that `Range` names.',
    headers: {
      'Content-Range': {
        description: 'How many bytes the file has.',
        required: true,
        schema: { type: 'string', pattern: '^bytes \\*/\\d+$' },
      },
    },
  },
  422: { name: 'KeyReused', description: 'The `Idempotency-Key` was used for another request.' },
  429: { name: 'TooManyRequests', description: 'The caller has sent too many requests.', headers: retryAfter },
  431: { name: 'HeadersTooLarge', description: 'The headers are larger than 16 KiB.' },
  500: { name: 'InternalError', description: 'An internal error. The logs contain details under the `traceId`.' },
  502: { name: 'BadGateway', description: 'The response of a service was invalid or incomplete.' },
  503: {
    name: 'ServiceUnavailable',
    description: 'A part of the system that the request needs is unavailable.',
    headers: retryAfter,
  },
  504: { name: 'DeadlineExceeded', description: 'The request took too long.', headers: retryAfter },
};

/** References to the problem responses of an operation. */
export function problemReferences(statuses: readonly ProblemStatus[]): Record<string, JsonObject> {
  return Object.fromEntries(
    statuses.map((status) => [status, { $ref: `#/components/responses/${problems[status].name}` }]),
  );
}

/** Returns the components that `problemReferences` refers to. */
export function problemResponses(statuses: ReadonlySet<ProblemStatus>, schema: Schema): Record<string, JsonObject> {
  const content = { [problemMediaType]: { schema } };
  return Object.fromEntries(
    problemStatuses
      .filter((status) => statuses.has(status))
      .map((status) => {
        const { name, ...response } = problems[status];
        return [name, { ...response, 'x-problem-codes': [...generalCodes[status]], content }];
      }),
  );
}

/** Returns the schema of `ProblemDocument`, which is not part of any contract. */
export function problemObject(schemas: SchemaWriter): Schema {
  const properties: Record<keyof ProblemDocument, Schema> = {
    type: { type: 'string', description: '`urn:ticketing:problem:` and the code.' },
    title: { type: 'string', description: 'The kind of the problem, for people.' },
    status: { type: 'integer', description: 'The HTTP status.' },
    detail: { type: 'string', description: 'What is wrong, for people. Not in internal errors.' },
    instance: { type: 'string', description: 'The path of the request.' },
    success: { type: 'boolean', const: false },
    code: { type: 'string', description: 'A stable code in snake_case, for programs.' },
    traceId: { type: 'string', description: 'Finds the request in logs and traces.' },
    errors: {
      type: 'array',
      description: 'The invalid parts of the input and what is wrong with them. Only for invalid input.',
      items: schemas.output(ViolationSchema),
    },
  };
  const optional: string[] = ['detail', 'errors'] satisfies (keyof ProblemDocument)[];
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', description: 'A problem document (RFC 9457).', properties, required };
}
