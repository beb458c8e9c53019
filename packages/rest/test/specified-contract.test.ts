import type { DescMethod, JsonObject } from '@bufbuild/protobuf';
import { IntentService } from '@ticketing/contracts/ticketing/intents/v1/intent_service_pb.ts';
import { SessionService } from '@ticketing/contracts/ticketing/intents/v1/session_service_pb.ts';
import { KnowledgeService } from '@ticketing/contracts/ticketing/knowledge/v1/knowledge_service_pb.ts';
import { SkillService } from '@ticketing/contracts/ticketing/knowledge/v1/skill_service_pb.ts';
import { ExportService } from '@ticketing/contracts/ticketing/reporting/v1/export_service_pb.ts';
import { SettingsService } from '@ticketing/contracts/ticketing/settings/v1/settings_service_pb.ts';
import { TemplateService } from '@ticketing/contracts/ticketing/templates/v1/template_service_pb.ts';
import { AttachmentService } from '@ticketing/contracts/ticketing/tickets/v1/attachment_service_pb.ts';
import { ConversationService } from '@ticketing/contracts/ticketing/tickets/v1/conversation_service_pb.ts';
import { CustomerService } from '@ticketing/contracts/ticketing/tickets/v1/customer_service_pb.ts';
import { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { TicketService } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { describe, expect, test } from 'vitest';
import { openApiDocument } from '../src/documents/openapi.ts';

// The operations, fields, types, defaults and limits of the specification, typed a second time on purpose: a
// contract that differs from it fails here, though all code follows the contract.

const services = [
  ...[TicketService, AttachmentService, ConversationService, CustomerService, TagService, IntentService],
  ...[SessionService, TemplateService, KnowledgeService, SkillService, ExportService, SettingsService],
];
const document = openApiDocument({
  title: 'Ticketing',
  version: '1',
  served: services.map((service) => ({
    service,
    handlers: new Map<DescMethod, unknown>(service.methods.map((method) => [method, undefined])),
  })),
});
const schemas = document.components.schemas as Record<string, JsonObject>;

const [direction, priority, status] = ['in|out|internal', 'low|medium|high|urgent', 'open|pending|closed'];
const channel = 'email|portal|phone|letter|system|chat|walkIn';

/** The fields of both forms of a ticket. `?`: may be null. */
const ticket = `id integer, direction ${direction}, from string?, fromName string?, to string[], cc string[], bcc string[],
  ccEmails string[] deprecated, bccEmails string[] deprecated, replyRecipients ReplyRecipients?, subchannelId integer?,
  externalTicketId string?, interface string, sentiment string?, language string?, languageCode string?,
  aiSupportLevel unprocessed|human|bot|automated,
  spamStatus auto_spam|auto_clean|auto_programmatic|manual_spam|manual_clean?, isCustomerActive boolean,
  priority ${priority}, channel ${channel}, status ${status}, summary string?, subject string?, createdAt DateTime?,
  modifiedAt DateTime?, firstResponseDueBy DateTime?, dueBy DateTime?, lastMessageAt DateTime?,
  lastCustomerMessageAt DateTime?, customerId string?, contractId string?, partnerId integer?,
  customerLegitimation integer, agentId integer?, tags Tag[], tagIds integer[], rawData object?,
  autoExecuteAt DateTime?, channelId string?, closedAt DateTime?, customerLegitimationMessage string,
  lastResponseAuthor Agent?, agent Agent?, agentIds integer[], agents Agent[], workedOnByIds integer[],
  workedOnBy Agent[], clientData object?, hasRequiredSkills boolean`;
/** The fields of the full form only. */
const fullOnly = `body string?, bodyPlain string?, bodyClean string?, attachments Attachment[], template string?,
  workitem object?`;
const knowledgeSource = `id integer, type faq|work-instruction|document|other|news|website, status active|archived|deleted,
  source string, name string, tags integer[], teams integer[], readByAgents KnowledgeReader[], title string, text string,
  confidential boolean, excluded boolean, access KnowledgeAccess?`;
const draft =
  'to email[], cc email[], bcc email[], intentIds integer[], attachments DraftAttachmentInput[], subchannelId integer';

describe('the fields that the specification lists', () => {
  test.each<[string, string]>([
    ['Ticket', `${ticket}, ${fullOnly}, customer Customer?, intents TicketIntent[]`],
    ['TicketSummary', `${ticket}, customer CustomerSummary?, intents TicketIntentSummary[]`],
    // spec: 23.5
    ['GetTicketResponse', 'prevTicketId integer?, nextTicketId integer?, sessions AssistantSession[]'],
    // spec: 6.15
    ['ReplyRecipients', 'to string[], cc string[], bcc string[]'],
    // spec: 6.3
    ['CustomerSummary', 'tags Tag[], tagIds integer[]'],
    [
      'TicketIntentSummary',
      'id integer, aiAgentId integer, name string, confidenceColor success|warning|danger, infos IntentInfo[]',
    ],
    // spec: 8.1, 8.2
    [
      'AssistantSession',
      `id string, ticketId integer?, lastActivityAt date-time?, createdAt date-time?, participants SessionParticipant[],
      messageCount integer, costUsd number?, model string?`,
    ],
    // spec: 8.3
    ['SessionParticipant', 'id integer, name string?'],
    // spec: 4.7, 4.8, 9.1, 9.2, 9.7
    [
      'HistoryEntry',
      `id integer?, type ticket|gridMessage|delivery|payment, channel ${channel}?,
      subChannel facebook|instagram|whatsapp|telegram|companyWebsite|gridOperator|previousSupplier|nextSupplier?,
      status ${status}?, subject string?, summary string?, url string?, createdAt DateTime?`,
    ],
    // spec: 10.2, 10.6, 10.12
    [
      'IntentOutcome',
      `responseCode string, aiAgentId integer, success boolean, messageLocalized string?, internalData object?,
      executedAt DateTime?, userId integer, sent boolean, ticketClosed boolean, recipient string?, message string?,
      template string?, sources object[], txId string`,
    ],
    // spec: 11.1, 11.8
    [
      'Template',
      `id integer, tagId integer?, emailTemplateId integer?, description string, message string, subject string?,
      exampleTicketIds integer[], attachments Attachment[], mergedTemplate string, template string, success boolean`,
    ],
    // spec: 12.1, 16.4
    ['KnowledgeSource', knowledgeSource],
    // spec: 12.2
    ['KnowledgeReader', 'id integer, name string, readAt DateTime?'],
    // spec: 12.3
    ['KnowledgeAccess', 'blocked boolean, blockedItems BlockedItem[]'],
    // spec: 12.4
    ['BlockedItem', 'id integer, kind article|folder'],
    // spec: 13.1
    [
      'Skill',
      `id integer, slug string, aiAgentId integer?, name string, description string?, content string?,
      createdAt date-time?, modifiedAt date-time?`,
    ],
    // spec: 14.2
    [
      'ReportingTicketRow',
      `id integer, channel ${channel}, direction ${direction},
      status open|closed|pending|resolved|waitingOnCustomer|waitingOnThirdParty, priority ${priority},
      contractId string?, customerId string?, customerLegitimation integer, topic string?, subTopic string?,
      allTags string?, incomingMessages integer?, outgoingMessages integer?, internalMessages integer?,
      manualWorkEntries integer?, createdAt date-time?, modifiedAt date-time?, closedAt date-time?, dueBy date-time?,
      lastMessageAt date-time?, lastCustomerMessageAt date-time?, secondsSinceLastCustomerMessage integer?,
      secondsToClose integer?, secondsClosedAfterSLA integer?, email string?, rawData string`,
    ],
    // spec: 15.1, 15.2, 16.4
    [
      'Setting',
      `name string, category general|routing|ai|email|customer|reporting|security|webhooks, group string, label string,
      description string, type text|textarea|number|boolean|select|multiselect|json|secret|color|html,
      config SettingConfig?, value any, defaultValue any`,
    ],
    // spec: 35.3
    ['SettingsGroup', 'name string, description string, settings Setting[]'],
    ['GetSettingsOfCategoryResponse', 'title string, groups SettingsGroup[]'],
    // spec: 19.5
    ['GetLatestTicketsResponse', 'earliest integer?, previous integer?, next integer?'],
    ['SearchTicketsResponse', 'tickets TicketSummary[], total integer, offset integer, limit integer'],
    // spec: 24.7
    ['UpdateTicketResponse', 'success boolean, ticket Ticket?'],
    // spec: 4.9, 22.11, 25.11, 26.6, 34.8
    ...['UpdateTicketsResponse', 'DeleteTicketResponse', 'DeleteAttachmentResponse', 'UpdateConversationResponse'].map(
      (name): [string, string] => [name, 'success boolean'],
    ),
    // spec: 28.3
    ['GetTicketHistoryResponse', 'success boolean, total integer, totalOpenedTickets integer, history HistoryEntry[]'],
    // spec: 32.6
    ['ListArchivedKnowledgeSourcesResponse', 'items KnowledgeSource[], total integer, offset integer, limit integer'],
    // spec: 33.5
    ['CreateSkillResponse', 'skill Skill?, success boolean'],
    // spec: 4.1, 4.5, 4.6, 6.5, 6.14, 6.42, 6.66, 41.3
  ])('of a response are in the contract, in their types: %s', (name, fields) => {
    const described = describedFields(name);
    expect(described).toEqual(expect.arrayContaining(listed(fields)));
  });

  test.each<[string, string, string[]?]>([
    // spec: 19.2
    [
      'GetLatestTicketsRequest',
      'preferredDirection earliest|previous|next? = earliest, ticketId integer?, filters Filter[]?',
    ],
    // spec: 20.8, 40.1
    [
      'SearchTicketsRequest',
      `limit integer? 1..500 = 100, offset integer? 0.. = 0, orderByField string? = t.id,
      orderByDirection asc|desc? = desc, ticketScope all|skills? = all, filters Filter[]?`,
    ],
    // spec: 21.12
    [
      'CreateTicketRequest',
      `from string?, fromName string?, subchannelId integer?, agentId integer?, to string[]?, cc string[]?, bcc string[]?,
      priority ${priority}? = low, channel ${channel}, status ${status}? = open, subject string?, body string?,
      createdAt time?, firstResponseDueBy time?, dueBy time?, attachments AttachmentInput[]?, tags integer[]?,
      contractId string?, externalTicketId string?, rawData object?, templateId integer?, templateData object?`,
      ['channel'],
    ],
    ['AttachmentInput', 'name string?, url uri?, base64 string?'],
    // spec: 22.4, 41.4
    [
      'TicketChange',
      `id integer, status ${status}, priority ${priority}, tagIds integer[], addTagIds integer[], removeTagIds integer[],
      refreshMode full|summaryAndText|customer|tags|agents, refresh boolean deprecated, refreshTags boolean deprecated`,
      ['id'],
    ],
    [
      'UpdateTicketRequest',
      `contractId string?, status ${status}, workedOnBy integer?, priority ${priority}, dueBy time?,
      firstResponseDueBy time?, tagIds integer[]`,
    ],
    // spec: 29.4, 29.6, 29.7
    [
      'ExecuteIntentRequest',
      `intentId integer?, code string?, ticketId integer?, informCustomer boolean? = false, dryRun boolean? = false,
      data object?, contractId string?`,
    ],
    // spec: 31.2
    [
      'CreateTemplateRequest',
      `message string, description string?, tagId integer?, emailTemplateId integer?, subject string?,
      exampleTicketIds integer[]?, attachments AttachmentInput[]?`,
      ['message'],
    ],
    // spec: 33.2, 33.4
    [
      'CreateSkillRequest',
      'name string, slug string?, aiAgentId integer?, description string?, content string?',
      ['name'],
    ],
    // spec: 34.4
    ['UpdateConversationRequest', `content MessageContent, isDraft boolean, ${draft}`],
    // spec: 34.2
    ['MessageContent', 'message string, type text|html', ['message', 'type']],
  ])('of a request body are in the contract, in their types: %s', (name, fields, required = []) => {
    expect(describedFields(name)).toEqual(expect.arrayContaining(listed(fields)));
    expect(schemas[name]?.required ?? []).toEqual(required);
  });

  // spec: 6.2, 6.48
  test('of the full form only are not in the compact form', () => {
    const compact = describedFields('TicketSummary').map((field) => field.split(' ')[0]);
    const names = listed(fullOnly).map((field) => field.split(' ')[0]);
    expect(compact.filter((name) => names.includes(name))).toEqual([]);
  });
});

const pages = 'limit integer 1..1000 = 100, offset integer 0.. = 0';
const ticketId = 'ticketId integer';

// spec: 18.2
describe('the operations that the specification lists', () => {
  test.each<[string, number, string, string, string?]>([
    // spec: 19.1
    ['POST /ticket/getLatest', 200, '', 'GetLatestTicketsRequest? → GetLatestTicketsResponse'],
    // spec: 20.1
    ['POST /ticket/search', 200, '', 'SearchTicketsRequest? → SearchTicketsResponse'],
    // spec: 21.1, 21.29, 36.5
    ['POST /ticket', 200, 'process realtime|batch|false = batch', 'CreateTicketRequest → Ticket'],
    // spec: 22.2
    ['PATCH /ticket', 200, 'includeInWorklog boolean = true', 'TicketChange[] → UpdateTicketsResponse'],
    // spec: 23.1, 23.4
    [
      'GET /ticket/{ticketId}',
      200,
      `${ticketId}, refresh boolean = false, erpCacheOnly boolean = false, includeSessions boolean = true,
      includeRawData boolean = false`,
      '→ GetTicketResponse',
    ],
    // spec: 24.1
    [
      'PATCH /ticket/{ticketId}',
      200,
      `${ticketId}, includeInWorklog boolean = true`,
      'UpdateTicketRequest? → UpdateTicketResponse',
    ],
    // spec: 25.1, 37.4
    ['DELETE /ticket/{ticketId}', 200, ticketId, '→ DeleteTicketResponse', 'deleteTicket'],
    // spec: 26.2, 37.5
    [
      'DELETE /ticket/{ticketId}/attachment/{attachmentId}',
      200,
      `${ticketId}, attachmentId string`,
      '→ DeleteAttachmentResponse',
      'updateTechnicalTicketFields',
    ],
    // spec: 27.1, 27.2
    ['GET /ticket/{ticketId}/variables', 200, ticketId, '→ object'],
    // spec: 28.1
    ['GET /ticket/{ticketId}/history', 200, `${ticketId}, ${pages}`, '→ GetTicketHistoryResponse'],
    // spec: 29.2, 29.3, 29.10
    ['POST /intent/{id}/execute', 200, 'id integer', 'ExecuteIntentRequest? → IntentOutcome'],
    // spec: 30.1, 30.8, 40.2
    [
      'GET /export/reporting_tickets',
      200,
      `format xlsx|csv|json, ${pages}, orderByField string = id, orderByDirection asc|desc = desc, filters Filter[]`,
      '→ ReportingTicketRow[]',
      'exportReporting',
    ],
    // spec: 31.1, 31.5
    ['POST /template', 201, '', 'CreateTemplateRequest → Template', 'manageTemplates'],
    // spec: 32.3, 32.4, 40.3
    [
      'GET /knowledgeSource/archived',
      200,
      `${pages}, orderByDirection asc|desc = desc, parent integer`,
      '→ ListArchivedKnowledgeSourcesResponse',
    ],
    // spec: 33.1
    ['POST /skill', 201, '', 'CreateSkillRequest → CreateSkillResponse', 'manageSkills'],
    // spec: 34.1
    [
      'PATCH /ticket/{ticketId}/conversation/{conversationId}',
      200,
      `${ticketId}, conversationId integer`,
      'UpdateConversationRequest? → UpdateConversationResponse',
    ],
    // spec: 35.1
    ['GET /settings/category/{category}', 200, 'category string', '→ GetSettingsOfCategoryResponse'],
    // spec: 36.1
    ['POST /tag', 200, '', 'CreateTagRequest → CreateTagResponse', 'manageTags'],
    ['GET /tag', 200, '', '→ ListTagsResponse'],
    // spec: 36.3
    ['GET /tag/{id}', 200, 'id integer', '→ Tag'],
    // spec: 36.4
    ['GET /erp/customers', 200, '', '→ SearchCustomersResponse'],
    ['GET /sessions', 200, 'ticketId integer', '→ ListSessionsResponse'],
  ])('%s', (operation, success, parameters, bodies, right) => {
    const described = findOperation(operation);
    expect(Object.keys(described.responses as JsonObject)).toContain(String(success));
    expect(listParameters(described)).toEqual(expect.arrayContaining(listed(parameters)));
    expect(describeBodies(described, success)).toBe(bodies);
    const needed = /Needs the right `(\w+)`/.exec(String(described.description ?? ''))?.[1];
    expect(needed).toBe(right);
  });

  // spec: 1.1, 41.2
  test('have no version in their paths, and need a bearer token or the cookie', () => {
    expect(Object.keys(document.paths).filter((path) => /\/v\d/i.test(path))).toEqual([]);
    expect(document.servers).toEqual([{ url: '/' }]);
    expect(document.security).toEqual([{ bearerAuth: [] }, { cookieAuth: [] }]);
    for (const verbs of Object.values(document.paths)) {
      for (const operation of Object.values(verbs)) expect(operation).not.toHaveProperty('security');
    }
  });
});

/** Fields or parameters that are written one after the other, in the form of `describe…`. */
function listed(fields: string): string[] {
  return fields
    .split(',')
    .map((field) => field.trim().replaceAll(/\s+/g, ' '))
    .filter(Boolean);
}

function describedFields(name: string): string[] {
  const schema = schemas[name];
  if (!schema) throw new Error(`${name} is not described`);
  const own = (schema.properties ?? {}) as Record<string, JsonObject>;
  const inherited = ((schema.allOf ?? []) as { properties?: Record<string, JsonObject> }[]).map(
    ({ properties = {} }) => properties,
  );
  return Object.entries(Object.assign({}, own, ...inherited)).map(([field, value]) =>
    describedValue(field, value as JsonObject),
  );
}

/** `name type bounds = default deprecated`, with what there is. */
function describedValue(name: string, schema: JsonObject): string {
  const isPage = name === 'limit' || name === 'offset';
  return [
    `${name} ${describeType(schema)}`,
    ...(isPage && schema.minimum !== undefined ? [`${schema.minimum}..${schema.maximum ?? ''}`] : []),
    ...(schema.default === undefined ? [] : [`= ${schema.default}`]),
    ...(schema.deprecated ? ['deprecated'] : []),
  ].join(' ');
}

/** The type of a value, with `?` if it may be null. */
function describeType(schema: JsonObject): string {
  if (typeof schema.$ref === 'string') return typeOfReference(schema.$ref);
  if (Array.isArray(schema.anyOf)) {
    const [value] = (schema.anyOf as JsonObject[]).filter(({ type }) => type !== 'null');
    return `${describeType(value ?? {})}?`;
  }
  const types = [schema.type ?? 'any'].flat();
  const isNullable = types.includes('null') ? '?' : '';
  const [type] = types.filter((one) => one !== 'null');
  if (type === 'array') return `${describeType(schema.items as JsonObject)}[]${isNullable}`;
  if (String(schema.pattern).startsWith('^\\d{4}-')) return `DateTime${isNullable}`;
  const isNamed = ['date-time', 'email', 'uri'].includes(String(schema.format));
  return `${isNamed ? schema.format : type}${isNullable}`;
}

function typeOfReference(reference: string): string {
  const name = reference.split('/').at(-1) ?? '';
  const values = schemas[name]?.enum;
  if (name === 'DateTimeInput') return 'time';
  return Array.isArray(values) ? values.join('|') : name;
}

function findOperation(operation: string): JsonObject {
  const [method = '', path = ''] = operation.split(' ');
  const found = document.paths[path]?.[method.toLowerCase()];
  if (!found) throw new Error(`${operation} is not described`);
  return found as unknown as JsonObject;
}

function listParameters(operation: JsonObject): string[] {
  return ((operation.parameters ?? []) as JsonObject[])
    .filter((parameter) => parameter.in !== 'header')
    .map(({ name, schema }) => {
      const { contentSchema, ...text } = schema as { contentSchema?: JsonObject };
      return describedValue(String(name), contentSchema ?? text);
    });
}

/** `request → response`, with `?` if the body may be left out. */
function describeBodies({ requestBody, responses }: JsonObject, success: number): string {
  const body = requestBody as { required?: boolean; content: Contents } | undefined;
  const response = (responses as Record<string, { content: Contents }>)[success];
  const request = body ? `${describeType(toJson(body.content))}${body.required ? '' : '?'} ` : '';
  return `${request}→ ${describeType(toJson(response?.content))}`;
}

type Contents = Record<string, { schema: JsonObject }>;

function toJson(contents: Contents | undefined): JsonObject {
  return contents?.['application/json']?.schema ?? {};
}
