import { isDeepStrictEqual } from 'node:util';
import type { DescField, DescMethod, DescService, JsonObject, JsonValue } from '@bufbuild/protobuf';
import type { RestRule } from '@ticketing/contracts/ticketing/api/v1/options_pb.ts';
import { fieldNamed, isEventStream, readAccessRule, readRestRule, takesIdempotencyKey } from '../codec/options.ts';
import { idempotencyKeyPattern } from '../routes/idempotency-key.ts';
import { responseMediaTypes } from '../routes/media-types.ts';
import { type Binding, isNested, toBinding } from '../routes/request-reader.ts';
import { messageFinder } from '../routes/rest-api.ts';
import { findComments } from './comments.ts';
import { findProblemStatuses, problemObject, problemReferences, problemResponses } from './openapi-problems.ts';
import { isRequired, isShown, listLimits, renderDescription, type Schema, SchemaWriter } from './openapi-schema.ts';
import { namedCodes, type ProblemStatus } from './problem-codes.ts';

/** The general information in an OpenAPI document. */
export interface OpenApiInfo {
  title: string;
  version: string;
  description?: string;
}

/** An OpenAPI 3.1 document, as plain JSON. */
export interface OpenApiDocument {
  openapi: '3.1.0';
  info: OpenApiInfo & { license: { name: string; identifier: string } };
  servers: { url: string }[];
  /** The credentials of every operation that declares no others. */
  security: Record<string, string[]>[];
  tags: OpenApiTag[];
  /** Operations by path and lower-case verb. */
  paths: Record<string, Record<string, OpenApiOperation>>;
  components: {
    schemas: Record<string, Schema>;
    responses: Record<string, JsonObject>;
    securitySchemes: Record<string, JsonObject>;
  };
}

/** A service of the contracts, which groups its operations. */
export interface OpenApiTag {
  name: string;
  description: string;
}

/** One method of a contract, as its REST route. */
export interface OpenApiOperation {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  deprecated?: true;
  /** The right that the caller needs. */
  'x-required-right'?: string;
  /** The codes of its problem documents, besides those of the problem responses that it refers to. */
  'x-problem-codes'?: string[];
  security?: Record<string, string[]>[];
  parameters?: JsonObject[];
  requestBody?: JsonObject;
  responses: Record<string, JsonObject>;
}

/** A service and its methods that have a handler. Every `ServiceImplementation` is one. */
export interface DocumentedService {
  service: DescService;
  handlers: ReadonlyMap<DescMethod, unknown>;
  streams?: ReadonlyMap<DescMethod, unknown>;
}

interface Route {
  service: DescService;
  method: DescMethod;
  rule: RestRule;
  binding: Binding;
}

/**
 * Describes the REST API of services from their contracts: all methods that have a handler and a route.
 *
 * Methods with one route whose responses have different media types are one operation.
 * Errors: an Error for two messages with one short name, two methods with one route and one media type, or a method
 * without an access rule.
 * Source: docs/reference/api.md, Response bodies; docs/reference/api.md, Errors; docs/reference/api.md, Credentials;
 * docs/reference/api.md, Deprecation.
 */
export function openApiDocument(options: OpenApiInfo & { served: readonly DocumentedService[] }): OpenApiDocument {
  const document = emptyDocument(options);
  const schemas = new SchemaWriter();
  const problem = schemas.define('Problem', 'a problem document', () => problemObject(schemas));
  const routes = options.served.flatMap(listRoutes);
  // `SchemaWriter` requires all responses to be described before the first request.
  const successes = routes.map((route) => renderSuccess(route, schemas));
  const usedStatuses = new Set<ProblemStatus>();
  for (const [index, route] of routes.entries()) {
    const statuses = findProblemStatuses(route);
    const responses = { ...successes[index], ...problemReferences(statuses) };
    for (const status of statuses) usedStatuses.add(status);
    addTag(document, { name: tagName(route.service), description: findComments(route.service).text });
    const [path, verb] = [renderPath(route), route.rule.method.toLowerCase()];
    const operation = renderOperation(route, schemas, responses);
    const shared = document.paths[path]?.[verb];
    if (shared) joinOperation(shared, operation, route);
    else addOperation(document, path, verb, operation);
  }
  document.components.schemas = schemas.components;
  document.components.responses = problemResponses(usedStatuses, problem);
  return document;
}

/**
 * Merges the documents of several services into one.
 *
 * Errors: an Error for two operations with one route or one id, and for two different components or tags with one name.
 */
export function mergeOpenApi(documents: readonly OpenApiDocument[], info: OpenApiInfo): OpenApiDocument {
  const merged = emptyDocument(info);
  for (const { tags, paths, components } of documents) {
    for (const tag of tags) addTag(merged, tag);
    for (const [path, operations] of Object.entries(paths)) {
      for (const [verb, operation] of Object.entries(operations)) addOperation(merged, path, verb, operation);
    }
    addComponents(merged.components.schemas, components.schemas);
    addComponents(merged.components.responses, components.responses);
    addComponents(merged.components.securitySchemes, components.securitySchemes);
  }
  return merged;
}

function emptyDocument({ title, version, description }: OpenApiInfo): OpenApiDocument {
  return {
    openapi: '3.1.0',
    info: {
      title,
      version,
      ...(description === undefined ? {} : { description }),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [{ bearerAuth: [] }, { cookieAuth: [] }],
    tags: [],
    paths: {},
    components: { schemas: {}, responses: {}, securitySchemes: { ...securitySchemes } },
  };
}

function addTag(document: OpenApiDocument, tag: OpenApiTag): void {
  const known = document.tags.find(({ name }) => name === tag.name);
  if (!known) document.tags.push(tag);
  else if (!isDeepStrictEqual(known, tag)) throw new Error(`two different tags are named ${tag.name}`);
}

function addOperation(document: OpenApiDocument, path: string, verb: string, operation: OpenApiOperation): void {
  const { operationId } = operation;
  const known = Object.values(document.paths).flatMap((operations) => Object.values(operations));
  if (known.some((other) => other.operationId === operationId)) throw new Error(`${operationId} is described twice`);
  if (document.paths[path]?.[verb]) throw new Error(`${verb} ${path} is described twice`);
  document.paths[path] = { ...document.paths[path], [verb]: operation };
}

/** Adds a method to the operation of another that has the same route and responds with another media type. */
function joinOperation(operation: OpenApiOperation, other: OpenApiOperation, { rule }: Route): void {
  const right = 'x-required-right';
  if (operation[right] !== other[right]) throw new Error(`${rule.path} needs two different rights`);
  for (const [status, response] of Object.entries(other.responses)) {
    const known = operation.responses[status];
    if (known?.content) operation.responses[status] = { ...known, content: joined(known.content, response.content) };
    else operation.responses[status] = response;
  }
  const media = responseMediaTypes(rule).map((type) => `\`${type}\``);
  const [first, second] = [operation.parameters ?? [], other.parameters ?? []];
  const isNotIn = (parameters: JsonObject[]) => (parameter: JsonObject) =>
    !parameters.some(({ name }) => name === parameter.name);
  const isOnlyInFirst = isNotIn(second);
  const limited = (parameter: JsonObject) => {
    const description = [parameter.description, `Not with the media type ${media.join(' or ')}.`].filter(Boolean);
    return isOnlyInFirst(parameter) ? { ...parameter, description: description.join(' ') } : parameter;
  };
  operation.parameters = [...first.map(limited), ...second.filter(isNotIn(first))];
  const about = [`${other.summary}.`, other.description].filter(Boolean).join(' ');
  operation.description = [operation.description, `With the media type ${media.join(' or ')}: ${about}`]
    .filter(Boolean)
    .join('\n\n');
}

function joined(left: JsonValue, right: JsonValue | undefined): JsonObject {
  const [first, second] = [left as JsonObject, right as JsonObject];
  const twice = Object.keys(second).find((type) => type in first);
  if (twice !== undefined) throw new Error(`two methods of one route respond with ${twice}`);
  return { ...first, ...second };
}

function addComponents(target: Record<string, JsonObject>, source: Record<string, JsonObject>): void {
  for (const [name, component] of Object.entries(source)) {
    const known = target[name];
    if (known && !isDeepStrictEqual(known, component)) throw new Error(`two different components are named ${name}`);
    target[name] = component;
  }
}

function listRoutes({ service, handlers, streams }: DocumentedService): Route[] {
  const methods = service.methods.filter((method) => handlers.has(method) || streams?.has(method));
  return methods.flatMap((method) => {
    const rule = readRestRule(method);
    return rule ? [{ service, method, rule, binding: toBinding(method, rule) }] : [];
  });
}

function renderPath({ method, rule }: Route): string {
  return rule.path.replace(/\{(\w+)\}/g, (_, name: string) => `{${fieldNamed(method.input, name).jsonName}}`);
}

function tagName(service: DescService): string {
  return service.name.replace(/Service$/, '');
}

function renderOperation(route: Route, schemas: SchemaWriter, responses: Record<string, JsonObject>): OpenApiOperation {
  const { method, service, binding, rule } = route;
  const { summary, rest } = findComments(method);
  const access = accessTo(method);
  const description = [rest, access.sentence].filter(Boolean).join('\n\n');
  const parameters = [
    ...binding.path.map((field) => renderParameter(field, 'path', schemas)),
    ...binding.query.filter(isShown).map((field) => renderParameter(field, 'query', schemas)),
    ...(takesIdempotencyKey(method) ? [idempotencyKey] : []),
    ...(rule.etag !== '' && rule.method === 'PATCH' ? [ifMatch] : []),
    ...(rule.asyncResponse === '' ? [] : [preferAsync]),
    ...(isEventStream(method) ? [lastEventId] : []),
    ...(rule.hasRanges ? [rangeHeader] : []),
  ];
  const requestBody = renderRequestBody(route, schemas);
  const codes = namedCodes(method);
  return {
    operationId: method.localName,
    tags: [tagName(service)],
    summary: summary || method.name,
    ...(description === '' ? {} : { description }),
    ...(method.deprecated ? { deprecated: true } : {}),
    ...access.members,
    ...(codes.length > 0 ? { 'x-problem-codes': codes } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(requestBody ? { requestBody } : {}),
    responses,
  };
}

const idempotencyKey: JsonObject = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Makes the request safe to repeat for 24 hours: the same key with the same request returns the first response again, with `Idempotency-Replayed: true`.',
  schema: { type: 'string', pattern: idempotencyKeyPattern },
};

const ifMatch: JsonObject = {
  name: 'If-Match',
  in: 'header',
  description:
    'The expected version, as returned in `ETag`. If the current version is another one, the response is 412.',
  schema: { type: 'string' },
};

const preferAsync: JsonObject = {
  name: 'Prefer',
  in: 'header',
  description: '`respond-async` returns 202 at once, with the address of the status in `Location`.',
  schema: { type: 'string' },
};

const rangeHeader: JsonObject = {
  name: 'Range',
  in: 'header',
  description: 'One range of bytes, for example `bytes=0-99`. Several ranges are ignored.',
  schema: { type: 'string' },
};

const lastEventId: JsonObject = {
  name: 'Last-Event-ID',
  in: 'header',
  description:
    'With `Accept: text/event-stream`: the id of the last event that was received. The stream continues there.',
  schema: { type: 'string' },
};

/** Describes who may call a method. */
function accessTo(method: DescMethod): {
  sentence: string;
  members: Pick<OpenApiOperation, 'security' | 'x-required-right'>;
} {
  const access = readAccessRule(method);
  switch (access?.case) {
    case 'service':
      return { sentence: 'For other services only.', members: { security: [{ bearerAuth: [] }] } };
    case 'right':
      return { sentence: `Needs the right \`${access.value}\`.`, members: { 'x-required-right': access.value } };
    case 'authenticated':
      return { sentence: '', members: {} };
    default:
      throw new Error(`${method.toString()} does not declare who may call it`);
  }
}

function renderParameter(field: DescField, location: 'path' | 'query', schemas: SchemaWriter): JsonObject {
  const schema = schemas.inputValue(field);
  const name = field.jsonName;
  const about = renderDescription(field, listLimits(field));
  const forms = `As JSON, or by names in brackets, such as \`${name}[0][key]=id\`.`;
  return {
    name,
    in: location,
    ...(isNested(field) ? { description: [about.description, forms].filter(Boolean).join(' ') } : about),
    required: location === 'path' || isRequired(field),
    ...(field.deprecated ? { deprecated: true } : {}),
    schema: isNested(field) ? jsonText(schema) : schema,
  };
}

/** Returns a text that is JSON. Generators of clients skip a parameter that has `content` instead of a schema. */
function jsonText(contentSchema: Schema): Schema {
  return { type: 'string', contentMediaType: 'application/json', contentSchema };
}

function renderRequestBody({ method, binding }: Route, schemas: SchemaWriter): JsonObject | undefined {
  if (binding.body === undefined) return undefined;
  if (binding.body !== '*') {
    const { body } = binding;
    const schema = schemas.inputValue(body);
    // An absent body is read as `{}`.
    const required = body.fieldKind !== 'message' || body.message.fields.some(isRequired);
    return { ...renderDescription(body, listLimits(body)), required, ...jsonContent(schema) };
  }
  const elsewhere = [...binding.path, ...binding.query];
  const fields = method.input.fields.filter((field) => !elsewhere.includes(field));
  return { required: fields.some(isRequired), ...jsonContent(schemas.body(method.input, fields)) };
}

function renderSuccess(route: Route, schemas: SchemaWriter): Record<string, JsonObject> {
  const { method, rule } = route;
  const { output } = method;
  if (method.methodKind === 'server_streaming') return renderStream(route, schemas);
  const schema =
    rule.responseBody === '' ? schemas.output(output) : schemas.outputValue(fieldNamed(output, rule.responseBody));
  const etag = {
    description: 'The version, as a strong entity tag.',
    required: true,
    schema: { type: 'string', pattern: '^"[1-9][0-9]*"$' },
  };
  return {
    [rule.status || 200]: {
      description: findComments(output).text || 'Done.',
      ...(rule.etag === '' ? {} : { headers: { ETag: etag } }),
      ...jsonContent(schema),
    },
  };
}

/** Returns the streamed response: in one of several media types, at once or, after a 202, at another address. */
function renderStream({ service, method, rule }: Route, schemas: SchemaWriter): Record<string, JsonObject> {
  const findMessage = messageFinder(service);
  const message = (name: string) => {
    const found = findMessage(name);
    if (!found) throw new Error(`${service.typeName} has no message ${name}`);
    return found;
  };
  const events = {
    type: 'string',
    description: `Server-sent events. ${findComments(method.output).text} The data of an event is its JSON.`,
  };
  const bytes = isEventStream(method) ? events : { type: 'string', format: 'binary' };
  const renderContent = (type: string) => {
    if (type === 'application/json' && rule.lists !== '')
      return { type: 'array', items: schemas.output(message(rule.lists)) };
    return type.startsWith('text/') && !isEventStream(method) ? { type: 'string' } : bytes;
  };
  const location = { description: 'The address of the status.', required: true, schema: { type: 'string' } };
  // Generators of clients do not know a range of media types.
  const types = rule.produces.flatMap((type) => (type === '*/*' ? ['application/octet-stream', type] : [type]));
  const content = Object.fromEntries(types.map((type) => [type, { schema: renderContent(type) }]));
  return {
    200: { description: 'The content.', content },
    ...(rule.hasRanges ? rangeResponses(content) : {}),
    ...(rule.asyncResponse === ''
      ? {}
      : {
          202: {
            description: 'The content is being prepared.',
            headers: { Location: location },
            ...jsonContent(schemas.output(message(rule.asyncResponse))),
          },
        }),
  };
}

/** Returns the further responses of a file that can be read in parts. */
function rangeResponses(content: JsonObject): Record<string, JsonObject> {
  const contentRange = {
    description: 'Which bytes of how many these are.',
    required: true,
    schema: { type: 'string', pattern: '^bytes \\d+-\\d+/\\d+$' },
  };
  return {
    206: { description: 'The range that `Range` names.', headers: { 'Content-Range': contentRange }, content },
    304: { description: 'The file is the one that `If-None-Match` names.' },
  };
}

function jsonContent(schema: Schema): JsonObject {
  return { content: { 'application/json': { schema } } };
}

const securitySchemes: Record<string, JsonObject> = {
  bearerAuth: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'A signed JWT whose `scope` contains `api`. Its `permissions` are the rights of the caller; admins have all rights.',
  },
  cookieAuth: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-ticketing_session',
    description:
      'The same JWT, with the scope `api`, in a cookie. Used only if there is no `Authorization` header; a write must come from the same origin.',
  },
};
