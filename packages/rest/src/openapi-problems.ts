import type { DescMethod, JsonObject } from '@bufbuild/protobuf';
import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt';
import type { RestRule } from '@ticketing/contracts/ticketing/api/v1/options_pb.ts';
import { ViolationSchema } from '@ticketing/contracts/ticketing/api/v1/problem_pb.ts';
import type { Schema, SchemaWriter } from './openapi-schema.ts';
import { takesIdempotencyKey } from './options.ts';
import { type ProblemDocument, problemMediaType } from './problem.ts';
import type { Binding } from './request-reader.ts';

/** What decides which problems a route can answer. */
export interface ProblemRoute {
  method: DescMethod;
  rule: RestRule;
  binding: Binding;
}

/** The statuses of the problems that a route can answer. */
export function problemStatusesOf({ method, rule, binding }: ProblemRoute): ProblemStatus[] {
  const hasBody = binding.body !== undefined;
  const isWrite = rule.method !== 'GET' && method.idempotency !== MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
  const occurs: Record<ProblemStatus, boolean> = {
    400: hasBody || binding.path.length > 0 || binding.query.length > 0,
    401: true,
    403: true,
    // A repeated request whose ticket was deleted since then finds nothing.
    404: binding.path.length > 0 || takesIdempotencyKey(method),
    409: isWrite,
    412: isWrite,
    413: hasBody,
    415: hasBody,
    422: takesIdempotencyKey(method),
    429: true,
    500: true,
    502: true,
    503: true,
    504: true,
  };
  for (const status of rule.problemStatuses) {
    const known = problemStatuses.find((candidate) => candidate === status);
    if (known === undefined) throw new Error(`${method.toString()} names the status ${status}, which no problem has`);
    occurs[known] = true;
  }
  return problemStatuses.filter((status) => occurs[status]);
}

const problemStatuses = [400, 401, 403, 404, 409, 412, 413, 415, 422, 429, 500, 502, 503, 504] as const;

/** A status that a problem document can have. */
export type ProblemStatus = (typeof problemStatuses)[number];

const retryAfter: Record<string, JsonObject> = {
  'Retry-After': { description: 'Seconds to wait.', required: true, schema: { type: 'integer', minimum: 0 } },
};

const problems: Record<ProblemStatus, { name: string; description: string; headers?: Record<string, JsonObject> }> = {
  400: { name: 'BadRequest', description: 'The request is not valid; `errors` says where.' },
  401: {
    name: 'Unauthenticated',
    description: 'No credential, or one that does not verify.',
    headers: {
      'WWW-Authenticate': { description: 'How to authenticate.', required: true, schema: { const: 'Bearer' } },
    },
  },
  403: { name: 'Forbidden', description: 'The caller may not do this.' },
  404: { name: 'NotFound', description: 'What the request names does not exist.' },
  409: { name: 'Conflict', description: 'The change does not fit what is stored.' },
  412: { name: 'PreconditionFailed', description: 'The change is made for another version.' },
  413: { name: 'ContentTooLarge', description: 'The body is larger than this route accepts.' },
  415: { name: 'UnsupportedMediaType', description: 'The body is not `application/json`.' },
  422: { name: 'KeyReused', description: 'The `Idempotency-Key` was used for another request.' },
  429: { name: 'TooManyRequests', description: 'The caller has sent too many requests.', headers: retryAfter },
  500: { name: 'InternalError', description: 'Something failed; only `traceId` says more.' },
  502: { name: 'BadGateway', description: 'A service could not be understood, or broke off.' },
  503: { name: 'ServiceUnavailable', description: 'Something that is needed is down.', headers: retryAfter },
  504: { name: 'DeadlineExceeded', description: 'It took too long.', headers: retryAfter },
};

/** The answers of an operation that are problems. */
export function problemReferences(statuses: readonly ProblemStatus[]): Record<string, JsonObject> {
  return Object.fromEntries(
    statuses.map((status) => [status, { $ref: `#/components/responses/${problems[status].name}` }]),
  );
}

/** The component behind each of `problemReferences`. */
export function problemResponses(statuses: ReadonlySet<ProblemStatus>, schema: Schema): Record<string, JsonObject> {
  const content = { [problemMediaType]: { schema } };
  return Object.fromEntries(
    problemStatuses
      .filter((status) => statuses.has(status))
      .map((status) => {
        const { name, ...response } = problems[status];
        return [name, { ...response, content }];
      }),
  );
}

/** The schema of `ProblemDocument`, which no contract describes. */
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
      description: 'What is wrong with which part of the input. Only for invalid input.',
      items: schemas.output(ViolationSchema),
    },
  };
  const optional: string[] = ['detail', 'errors'] satisfies (keyof ProblemDocument)[];
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', description: 'A problem document (RFC 9457).', properties, required };
}
