import {
  create,
  type DescField,
  type DescMessage,
  type DescMethod,
  fromJson,
  type JsonObject,
  type JsonValue,
  ScalarType,
} from '@bufbuild/protobuf';
import { FeatureSet_FieldPresence } from '@bufbuild/protobuf/wkt';
import { ReportingTicketRowSchema } from '@ticketing/contracts/ticketing/reporting/v1/export_service_pb.ts';
import { SpamStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { TicketSchema } from '@ticketing/contracts/ticketing/tickets/v1/ticket_pb.ts';
import { TicketService } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { DomainError, invalidInput } from '@ticketing/errors/domain-error.ts';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { messageEncoder } from '../codec/encode.ts';
import { readRestRule } from '../codec/options.ts';
import { toProblem } from '../codec/problem.ts';
import { requestReader, toBinding } from '../routes/request-reader.ts';
import { openApiDocument } from './openapi.ts';
import { SchemaWriter } from './openapi-schema.ts';

const services = [TicketService, TagService];
const methods: readonly DescMethod[] = services
  .flatMap((service) => service.methods)
  .filter((method) => readRestRule(method));
const document = openApiDocument({
  title: 'Ticketing',
  version: '1.0.0',
  served: services.map((service) => ({
    service,
    handlers: new Map<DescMethod, unknown>(service.methods.map((method) => [method, undefined])),
  })),
});
const { schemas } = document.components;
const addFormats = formats as unknown as typeof formats.default;
const ajv = addFormats(new Ajv2020({ strict: false, allErrors: true }));
ajv.addSchema({ $id: 'openapi', ...document });

describe('schemas of responses', () => {
  it.each(methods.map((method) => [method.localName, method] as const))('match the response of %s', (_, method) => {
    for (const isFull of [false, true]) {
      const response = fromJson(method.output, toSample(method.output, isFull));
      const json = messageEncoder(method.output)(response);
      const field = method.output.fields.find(({ name }) => name === readRestRule(method)?.responseBody);
      // `unevaluatedProperties` finds keys that are not in the document.
      const schema = { ...schemaAt(findOperation(method).responses[200]), unevaluatedProperties: false };
      expect(findErrors(schema, field ? json[field.jsonName] : json)).toEqual([]);
    }
  });

  it('match a ticket, but not one without a key or with a misspelt enum', () => {
    const ticket = fromJson(TicketSchema, toSample(TicketSchema, false));
    const json = messageEncoder(TicketSchema)(create(TicketSchema, { ...ticket, spamStatus: SpamStatus.MANUAL_SPAM }));
    const schema = { $ref: 'openapi#/components/schemas/Ticket' };
    expect(findErrors(schema, json)).toEqual([]);
    const { subject, ...rest } = json;
    expect(findErrors(schema, rest)).toEqual([' required']);
    expect(findErrors(schema, { ...json, spamStatus: 'MANUAL_SPAM' })).toContain('/spamStatus enum');
    expect(findErrors(schema, { ...json, id: null })).toEqual(['/id type']);
    expect(findErrors(schema, { ...json, createdAt: '2026-01-31T09:10:00Z' })).toEqual(['/createdAt pattern']);
  });

  // spec: 41.3
  it('mark the fields that may be null, may be left out, are deprecated or are dates', () => {
    const ticket = findProperties('Ticket');
    expect(ticket.from).toMatchObject({ type: ['string', 'null'] });
    expect(ticket.priority).toEqual({
      $ref: '#/components/schemas/Priority',
      description: 'How urgent the ticket is.',
    });
    expect(ticket.spamStatus).toMatchObject({
      anyOf: [{ $ref: '#/components/schemas/SpamStatus' }, { type: 'null' }],
    });
    expect(ticket.ccEmails).toMatchObject({ deprecated: true, description: 'Use `replyRecipients.cc`.' });
    expect(ticket.createdAt).toEqual({
      type: ['string', 'null'],
      pattern: '^\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}$',
      examples: ['2026-01-31 09:10:00'],
      description: 'When the ticket was created.',
    });
    expect(findProperties('AssistantSession').createdAt).toMatchObject({ format: 'date-time' });
    expect(ticket.rawData).toMatchObject({ type: ['object', 'null'], additionalProperties: true });
    expect(schemas.Ticket?.required).not.toContain('rawData');
    expect(schemas.Ticket?.required).toContain('workitem');
  });

  it('let a field be null that some responses leave out', () => {
    const writer = new SchemaWriter();
    writer.output(ReportingTicketRowSchema);
    const row = writer.components.ReportingTicketRow;
    expect(row).toMatchObject({ properties: { email: { type: ['string', 'null'] }, rawData: { type: 'string' } } });
    expect(row?.required).toContain('topic');
    expect(row?.required).not.toContain('email');
    expect(row?.required).not.toContain('rawData');
  });

  it('take inline and unwrapped messages into account', () => {
    expect(schemas.GetTicketResponse).toMatchObject({
      allOf: [
        { $ref: '#/components/schemas/Ticket' },
        {
          properties: { sessions: { type: 'array', items: { $ref: '#/components/schemas/AssistantSession' } } },
          required: ['prevTicketId', 'nextTicketId'],
        },
      ],
    });
    expect(schemas).not.toHaveProperty('AssistantSessions');
  });

  it('spell enums and explain their values', () => {
    expect(schemas.SpamStatus).toEqual({
      type: 'string',
      enum: ['auto_spam', 'auto_clean', 'auto_programmatic', 'manual_spam', 'manual_clean'],
      description: expect.stringContaining('\n\n- `auto_spam`: Detected as spam.\n- `auto_clean`:'),
    });
  });

  // spec: 16.2, 39.14
  it('describe problem documents', () => {
    const at = { instance: '/tag', traceId: 'a1' };
    const schema = { $ref: 'openapi#/components/schemas/Problem', unevaluatedProperties: false };
    for (const error of [
      new DomainError('internal', 'internal', 'Internal error'),
      invalidInput([{ pointer: '#/name', code: 'required', detail: 'is required' }]),
    ]) {
      expect(findErrors(schema, toProblem(error, at))).toEqual([]);
    }
    expect(findErrors(schema, { code: 'internal' })).not.toEqual([]);
  });
});

describe('schemas of requests', () => {
  const tag = { name: 'Broken meter' };
  const mail = { channel: 'email' };
  it.each<[string, DescMethod, JsonValue, boolean]>([
    ['a POST with only the required fields', TagService.method.createTag, tag, true],
    ['no required field', TagService.method.createTag, {}, false],
    ['null for a required field', TagService.method.createTag, { name: null }, false],
    ['null for an optional field of a POST', TagService.method.createTag, { ...tag, parent: null, type: null }, true],
    ['an unknown field', TagService.method.createTag, { ...tag, colour: '#fff' }, false],
    ['a field of the response', TagService.method.createTag, { ...tag, id: 3 }, false],
    ['a misspelt enum', TagService.method.createTag, { ...tag, type: 'SKILL' }, false],
    ['a text that does not match its pattern', TagService.method.createTag, { ...tag, color: 'red' }, false],
    ['a number beyond its bounds', TagService.method.createTag, { ...tag, sla: 315_360_001 }, false],
    ['a nested message', TagService.method.createTag, { ...tag, detection: { keywords: ['gas'] } }, true],
    ['a nested unknown field', TagService.method.createTag, { ...tag, detection: { words: [] } }, false],
    ['an item that is too short', TagService.method.createTag, { ...tag, detection: { keywords: [''] } }, false],
    ['a date as text', TicketService.method.createTicket, { ...mail, dueBy: '2026-01-31 09:10:00' }, true],
    ['a date as a number', TicketService.method.createTicket, { ...mail, dueBy: 1769850600 }, true],
    ['a date as an object', TicketService.method.createTicket, { ...mail, dueBy: {} }, false],
    ['a free object', TicketService.method.createTicket, { ...mail, rawData: { a: [1, null] } }, true],
    ['items that are not unique', TicketService.method.createTicket, { ...mail, tags: [1, 1] }, false],
    ['a field of the query', TicketService.method.createTicket, { ...mail, process: 'batch' }, false],
    ['an empty change', TicketService.method.updateTicket, {}, true],
    ['null for a nullable field of a PATCH', TicketService.method.updateTicket, { dueBy: null }, true],
    ['null for another field of a PATCH', TicketService.method.updateTicket, { status: null }, false],
    ['null for a list of a PATCH', TicketService.method.updateTicket, { tagIds: null }, false],
    ['a mask', TicketService.method.updateTicket, { updateMask: { paths: [] } }, false],
    ['a list of changes', TicketService.method.updateTickets, [{ id: 1, contractId: null }], true],
    ['an empty list of changes', TicketService.method.updateTickets, [], false],
    ['null for a list of changes', TicketService.method.updateTickets, null, false],
    ['a search', TicketService.method.searchTickets, { filters: [{ key: 'id', comparator: '=', value: 1 }] }, true],
    [
      'any value',
      TicketService.method.searchTickets,
      { filters: [{ key: 'id', comparator: 'in', values: [1, null] }] },
      true,
    ],
    ['no value', TicketService.method.searchTickets, { filters: [{ key: 'id', comparator: '=', value: null }] }, true],
    [
      'a value that is not allowed',
      TicketService.method.searchTickets,
      { filters: [{ key: 'id', comparator: '?' }] },
      false,
    ],
  ])('agree with the reader on %s', (_, method, body, isValid) => {
    expect({
      schema: findErrors(schemaAt(findOperation(method).requestBody), body).length === 0,
      reader: isRead(method, body),
    }).toEqual({ schema: isValid, reader: isValid });
  });

  it('describe in words the limits that JSON Schema has no keyword for', () => {
    const { body, rawData } = findProperties('CreateTicketRequest');
    expect(body?.description).toBe('The text: HTML, preferably, or plain text. At most 5 MiB in UTF-8.');
    expect(rawData?.description).toBe(
      'Source data, kept for later use. At most 1 MiB of JSON. At most 32 levels deep.',
    );
  });

  it('have typed defaults and mark deprecated fields', () => {
    expect(findProperties('SearchTicketsRequest')).toMatchObject({
      limit: { default: 100 },
      orderByField: { default: 't.id' },
      orderByDirection: { default: 'desc' },
    });
    expect(findProperties('TicketChange').refresh).toEqual({
      type: 'boolean',
      description: 'Use `refreshMode` full.',
      deprecated: true,
    });
  });

  it('differ from those of responses only if a message occurs in both', () => {
    expect(findProperties('CreateTagRequest').detection).toMatchObject({
      anyOf: [{ $ref: '#/components/schemas/TagDetectionInput' }, { type: 'null' }],
    });
    expect(schemas.TagDetection).not.toHaveProperty('additionalProperties');
    expect(schemas.TagDetectionInput).toMatchObject({ additionalProperties: false });
    expect(Object.keys(schemas).filter((name) => name.endsWith('Input'))).toEqual([
      'AttachmentInput',
      'DateTimeInput',
      'TagDetectionInput',
    ]);
  });
});

function findOperation(method: DescMethod) {
  const operations = Object.values(document.paths).flatMap((verbs) => Object.values(verbs));
  const operation = operations.find(({ operationId }) => operationId === method.localName);
  if (!operation) throw new Error(`${method.localName} is not described`);
  return operation;
}

function findProperties(name: string): Record<string, JsonObject> {
  return schemas[name]?.properties as Record<string, JsonObject>;
}

/** The schema of a body, with references into the document. */
function schemaAt(body: JsonObject | undefined): JsonObject {
  const { schema } = (body as { content: { 'application/json': { schema: JsonObject } } }).content['application/json'];
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi#/'));
}

function findErrors(schema: JsonObject, value: unknown): string[] {
  const validate = ajv.compile(schema);
  return validate(value) ? [] : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.keyword}`);
}

function isRead(method: DescMethod, body: JsonValue): boolean {
  const rule = readRestRule(method);
  if (!rule) throw new Error(`${method.localName} has no route`);
  const binding = toBinding(method, rule);
  const { read } = requestReader(method, binding, () => undefined);
  const path = Object.fromEntries(binding.path.map((field) => [field.jsonName, '1']));
  try {
    read({ body: { json: body, violations: [] }, query: '', path });
    return true;
  } catch (error) {
    if (error instanceof DomainError) return false;
    throw error;
  }
}

/** A message in ProtoJSON with nothing set that may be unset, or with everything, to a depth. */
function toSample(message: DescMessage, isFull: boolean, depth = 0): JsonObject {
  const sample: JsonObject = {};
  for (const field of message.fields) {
    const isBody = depth === 0 && field.fieldKind === 'message';
    const mayBeUnset = field.fieldKind === 'list' || field.presence === FeatureSet_FieldPresence.EXPLICIT;
    if (mayBeUnset && !isBody && (!isFull || depth > 4)) continue;
    const value = toSampleValue(field, isFull, depth);
    sample[field.jsonName] = field.fieldKind === 'list' ? [value, value] : value;
  }
  return sample;
}

function toSampleValue(field: DescField, isFull: boolean, depth: number): JsonValue {
  if (field.enum) return field.enum.values[1]?.name ?? null;
  if (field.message) {
    if (field.message.typeName === 'google.protobuf.Timestamp') return '2026-01-31T09:10:00Z';
    if (field.message.typeName === 'google.protobuf.Struct') return { any: [1, null] };
    return toSample(field.message, isFull, depth + 1);
  }
  if (field.scalar === ScalarType.STRING) return 'text';
  return field.scalar === ScalarType.BOOL ? true : 7;
}
