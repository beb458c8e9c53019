import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { create, createFileRegistry, type DescService, setExtension } from '@bufbuild/protobuf';
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FieldOptionsSchema,
  FileDescriptorProtoSchema,
  MethodOptionsSchema,
} from '@bufbuild/protobuf/wkt';
import { Health } from '@ticketing/contracts/grpc/health/v1/health_pb.ts';
import { FilterSchema } from '@ticketing/contracts/ticketing/api/v1/filter_pb.ts';
import {
  type AccessRule,
  AccessRuleSchema,
  access,
  FieldRulesSchema,
  RestRuleSchema,
  rest,
  rules,
} from '@ticketing/contracts/ticketing/api/v1/options_pb.ts';
import { AttachmentService } from '@ticketing/contracts/ticketing/tickets/v1/attachment_service_pb.ts';
import { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { TicketService } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { describe, expect, it } from 'vitest';
import { type DocumentedService, mergeOpenApi, type OpenApiDocument, openApiDocument } from './openapi.ts';

const info = { title: 'Ticketing', version: '1.0.0' };

describe('openApiDocument', () => {
  const document = toDocument(TicketService, AttachmentService, TagService);

  it('passes the lint of redocly', () => {
    expect(lint(document)).toEqual({ status: 0, report: expect.not.stringContaining('warning') });
    const broken = structuredClone(document);
    delete broken.components.schemas.Violation;
    expect(lint(broken)).toMatchObject({ status: 1 });
  });

  // spec: 37.2
  it('has the title, the version and the security schemes', () => {
    const { openapi, info, servers, security, tags, components } = openApiDocument({
      title: 'Ticketing',
      version: '1.2.3',
      description: 'Tickets.',
      served: [documentAll(TagService)],
    });
    expect({ openapi, info, servers, security, tags }).toEqual({
      openapi: '3.1.0',
      info: {
        title: 'Ticketing',
        version: '1.2.3',
        description: 'Tickets.',
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: '/' }],
      security: [{ bearerAuth: [] }, { cookieAuth: [] }],
      tags: [{ name: 'Tag', description: 'Manages the tags of tickets.' }],
    });
    expect(components.securitySchemes).toMatchObject({
      bearerAuth: { type: 'http', scheme: 'bearer', description: expect.stringContaining('`scope`') },
      cookieAuth: { type: 'apiKey', in: 'cookie', name: '__Host-ticketing_session' },
    });
  });

  it('describes only methods that have a handler and a route', () => {
    const { method } = TagService;
    const { paths, tags, components } = openApiDocument({
      ...info,
      served: [{ service: TagService, handlers: new Map([[method.getTag, undefined]]) }, documentAll(Health)],
    });
    expect(Object.keys(paths)).toEqual(['/tag/{id}']);
    expect(tags.map(({ name }) => name)).toEqual(['Tag']);
    expect(Object.keys(components.schemas)).not.toContain('CreateTagResponse');
  });

  it('describes a read with its query', () => {
    const operation = document.paths['/tag']?.get;
    expect(operation).toEqual({
      operationId: 'listTags',
      tags: ['Tag'],
      summary: 'Lists tags by full name',
      description: 'Disabled tags are left out unless asked for.\n\nErrors: `page_too_large`.',
      'x-problem-codes': ['page_too_large'],
      parameters: [
        {
          name: 'q',
          in: 'query',
          description:
            'Part of the full name, without regard to case, so that a tag is found together with those below it.',
          required: false,
          schema: { type: 'string', maxLength: 320 },
        },
        {
          name: 'type',
          in: 'query',
          description: 'Only tags of this type.',
          required: false,
          schema: { $ref: '#/components/schemas/TagType' },
        },
        {
          name: 'includeDisabled',
          in: 'query',
          description: 'Whether disabled tags are listed too.',
          required: false,
          schema: { type: 'boolean', default: false },
        },
        {
          name: 'limit',
          in: 'query',
          description: 'The maximum number of tags.',
          required: false,
          schema: { type: 'integer', format: 'int32', minimum: 1, maximum: 1000, default: 100 },
        },
        {
          name: 'offset',
          in: 'query',
          description: 'How many matching tags to skip.',
          required: false,
          schema: { type: 'integer', format: 'int32', minimum: 0, default: 0 },
        },
      ],
      responses: {
        200: {
          description: 'A page of tags.',
          content: { 'application/json': { schema: { $ref: '#/components/schemas/ListTagsResponse' } } },
        },
        400: { $ref: '#/components/responses/BadRequest' },
        401: { $ref: '#/components/responses/Unauthenticated' },
        403: { $ref: '#/components/responses/Forbidden' },
        429: { $ref: '#/components/responses/TooManyRequests' },
        431: { $ref: '#/components/responses/HeadersTooLarge' },
        500: { $ref: '#/components/responses/InternalError' },
        502: { $ref: '#/components/responses/BadGateway' },
        503: { $ref: '#/components/responses/ServiceUnavailable' },
        504: { $ref: '#/components/responses/DeadlineExceeded' },
      },
    });
  });

  it('describes a creation: body, query, version and the field that is the response body', () => {
    const operation = document.paths['/ticket']?.post;
    expect(operation?.description).toMatch(/\n\nErrors: /);
    expect(operation?.parameters?.map(({ name }) => name)).toEqual(['process', 'includeRawData', 'Idempotency-Key']);
    expect(operation?.requestBody).toEqual({
      required: true,
      content: { 'application/json': { schema: { $ref: '#/components/schemas/CreateTicketRequest' } } },
    });
    expect(operation?.responses[200]).toEqual({
      description: 'The ticket that was created or updated.',
      headers: {
        ETag: {
          description: 'The version, as a strong entity tag.',
          required: true,
          schema: { type: 'string', pattern: '^"[1-9][0-9]*"$' },
        },
      },
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Ticket' } } },
    });
    expect(listStatuses(operation)).toEqual([
      200, 400, 401, 403, 404, 409, 412, 413, 415, 422, 429, 431, 500, 502, 503, 504,
    ]);
  });

  it('describes a body that is one field of the request', () => {
    const operation = document.paths['/ticket']?.patch;
    expect(operation?.requestBody).toEqual({
      description: 'The changes, one for each ticket.',
      required: true,
      content: {
        'application/json': {
          schema: { type: 'array', minItems: 1, maxItems: 500, items: { $ref: '#/components/schemas/TicketChange' } },
        },
      },
    });
  });

  it('distinguishes a search by POST from a write, and describes an optional body', () => {
    const operation = document.paths['/ticket/search']?.post;
    expect(operation?.requestBody).toMatchObject({ required: false });
    expect(listStatuses(operation)).toEqual([200, 400, 401, 403, 404, 413, 415, 429, 431, 500, 502, 503, 504]);
  });

  it('describes a deletion with its path and the right that it needs', () => {
    const operation = document.paths['/ticket/{ticketId}/attachment/{attachmentId}']?.delete;
    expect(operation).toMatchObject({
      operationId: 'deleteAttachment',
      'x-required-right': 'updateTechnicalTicketFields',
      description:
        'Cannot be undone.\n\nErrors: `attachment_not_found`.\n\nNeeds the right `updateTechnicalTicketFields`.',
      parameters: [
        { name: 'ticketId', in: 'path', required: true, schema: { type: 'integer', format: 'int32', minimum: 1 } },
        { name: 'attachmentId', in: 'path', required: true, schema: { type: 'string', pattern: '^[a-z0-9]{8}$' } },
      ],
    });
    expect(operation).not.toHaveProperty('requestBody');
    expect(listStatuses(operation)).toEqual([
      200, 400, 401, 403, 404, 409, 412, 413, 415, 429, 431, 500, 502, 503, 504,
    ]);
  });

  it('describes errors as problem documents', () => {
    expect(document.components.responses.TooManyRequests).toEqual({
      description: 'The caller has sent too many requests.',
      headers: {
        'Retry-After': { description: 'Seconds to wait.', required: true, schema: { type: 'integer', minimum: 0 } },
      },
      'x-problem-codes': ['rate_limited', 'too_many_at_once', 'idempotency_budget_exceeded'],
      content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
    });
  });

  it('describes lists in a query, a status other than 200, and methods that only services may call', () => {
    const service = sampleService({ case: 'service', value: true });
    const operation = toDocument(service).paths['/sample']?.get;
    expect(operation).toMatchObject({
      summary: 'ListSamples',
      description: 'For other services only.',
      security: [{ bearerAuth: [] }],
      parameters: [
        {
          name: 'filters',
          required: false,
          schema: {
            type: 'string',
            contentMediaType: 'application/json',
            contentSchema: { type: 'array', items: { $ref: '#/components/schemas/Filter' } },
          },
        },
        { name: 'tagNames', required: true, schema: { type: 'array', minItems: 1, items: { type: 'string' } } },
      ],
    });
    expect(listStatuses(operation)).toEqual([202, 400, 401, 403, 429, 431, 500, 502, 503, 504]);
  });

  it('limits the values of Idempotency-Key to those that are accepted', () => {
    const parameters = document.paths['/ticket']?.post?.parameters ?? [];
    const schema = parameters.find(({ name }) => name === 'Idempotency-Key')?.schema as { pattern: string };
    const accepted = ['a', '"a b"', '"\\"\\\\"', 'a'.repeat(255), `"${'a'.repeat(255)}"`, 'a"b'];
    const refused = ['', '""', '"a', 'a b', 'ä', '"\\x"', `"${'a'.repeat(256)}"`, 'a'.repeat(256), '"a"b'];
    for (const key of [...accepted, ...refused]) {
      expect([key, new RegExp(schema.pattern).test(key)]).toEqual([key, accepted.includes(key)]);
    }
  });

  it.each([
    ['POST', '/ticket/search', [403, 404, 500]],
    ['POST', '/ticket', [403, 500]],
    ['PATCH', '/ticket', [403, 404, 500]],
    ['GET', '/ticket/{ticketId}', [403, 404, 500]],
    ['PATCH', '/ticket/{ticketId}', [403, 404, 500]],
    ['DELETE', '/ticket/{ticketId}', [403, 404, 500]],
    ['DELETE', '/ticket/{ticketId}/attachment/{attachmentId}', [403, 404, 500]],
    ['GET', '/ticket/{ticketId}/variables', [403, 404, 500]],
    // spec: 39.4, 39.5, 39.6, 39.7, 39.8, 39.9, 39.10, 39.11
  ])('lists the problems that the API names: %s %s', (method, path, statuses) => {
    expect(listStatuses(document.paths[path]?.[method.toLowerCase()])).toEqual(expect.arrayContaining(statuses));
  });

  it('lists a status that the contract adds, and refuses one that is not a status of problems', () => {
    const kind = { case: 'authenticated', value: true } as const;
    expect(listStatuses(toDocument(sampleService(kind, [409])).paths['/sample']?.get)).toContain(409);
    expect(() => toDocument(sampleService(kind, [418]))).toThrow(
      'names the status 418, which is not a status of problems',
    );
  });

  it('refuses a method without an access rule', () => {
    expect(() => toDocument(sampleService({ case: undefined }))).toThrow('does not declare who may call it');
  });
});

describe('mergeOpenApi', () => {
  it('merges services that share messages', () => {
    const merged = mergeOpenApi([toDocument(TicketService), toDocument(TagService)], info);
    expect(merged).toEqual(toDocument(TicketService, TagService));
    expect(JSON.parse(JSON.stringify(merged))).toEqual(merged);
  });

  it('refuses two different components of one name', () => {
    const other = toDocument(TagService);
    other.components.schemas.Tag = { type: 'string' };
    expect(() => mergeOpenApi([toDocument(TicketService), other], info)).toThrow(
      'two different components are named Tag',
    );
  });

  it('refuses an operation that is described twice', () => {
    const document = toDocument(TagService);
    expect(() => mergeOpenApi([document, document], info)).toThrow('createTag is described twice');
    const renamed = structuredClone(document);
    for (const verbs of Object.values(renamed.paths)) {
      for (const operation of Object.values(verbs)) operation.operationId += '2';
    }
    expect(() => mergeOpenApi([document, renamed], info)).toThrow('post /tag is described twice');
  });
});

function toDocument(...services: DescService[]): OpenApiDocument {
  return openApiDocument({ ...info, served: services.map(documentAll) });
}

function documentAll(service: DescService): DocumentedService {
  return { service, handlers: new Map(service.methods.map((method) => [method, undefined])) };
}

function listStatuses(operation: { responses: object } | undefined): number[] {
  return Object.keys(operation?.responses ?? {}).map(Number);
}

function lint(document: OpenApiDocument): { status: number | null; report: string } {
  const folder = mkdtempSync(join(tmpdir(), 'openapi-'));
  try {
    writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document));
    writeFileSync(join(folder, 'redocly.yaml'), 'extends: [recommended]\ntelemetry: off\n');
    const redocly = fileURLToPath(new URL('../../../../node_modules/.bin/redocly', import.meta.url));
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
    const { status, stdout, stderr } = spawnSync(process.execPath, [redocly, 'lint', 'openapi.json'], {
      cwd: folder,
      env,
      encoding: 'utf8',
    });
    return { status, report: stdout + stderr };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A service with one method, `GET /sample?filters&tagNames`, that no contract has. */
function sampleService(kind: AccessRule['kind'], problemStatuses: number[] = []): DescService {
  const options = create(MethodOptionsSchema);
  const rule = create(RestRuleSchema, { method: 'GET', path: '/sample', status: 202, problemStatuses });
  setExtension(options, rest, rule);
  if (kind.case) setExtension(options, access, create(AccessRuleSchema, { kind }));
  const counted = create(FieldOptionsSchema);
  setExtension(counted, rules, create(FieldRulesSchema, { minItems: 1 }));
  const list = { label: FieldDescriptorProto_Label.REPEATED };
  const { MESSAGE, STRING } = FieldDescriptorProto_Type;
  const file = create(FileDescriptorProtoSchema, {
    name: 'sample.proto',
    package: 'sample',
    syntax: 'proto3',
    dependency: [FilterSchema.file.proto.name],
    messageType: [
      {
        name: 'ListSamplesRequest',
        field: [
          {
            ...list,
            name: 'filters',
            jsonName: 'filters',
            number: 1,
            type: MESSAGE,
            typeName: `.${FilterSchema.typeName}`,
          },
          { ...list, name: 'tag_names', jsonName: 'tagNames', number: 2, type: STRING, options: counted },
        ],
      },
      { name: 'ListSamplesResponse' },
    ],
    service: [
      {
        name: 'SampleService',
        method: [
          {
            name: 'ListSamples',
            inputType: '.sample.ListSamplesRequest',
            outputType: '.sample.ListSamplesResponse',
            options,
          },
        ],
      },
    ],
  });
  const service = createFileRegistry(file, () => FilterSchema.file).getService('sample.SampleService');
  if (!service) throw new Error('the sample has no service');
  return service;
}
