import type { DescService } from '@bufbuild/protobuf';
import { AiAgentService } from '@ticketing/contracts/ticketing/intents/v1/ai_agent_service_pb.ts';
import { AnalysisService as IntentAnalysisService } from '@ticketing/contracts/ticketing/intents/v1/analysis_service_pb.ts';
import { IntentService } from '@ticketing/contracts/ticketing/intents/v1/intent_service_pb.ts';
import { SessionService } from '@ticketing/contracts/ticketing/intents/v1/session_service_pb.ts';
import { KnowledgeService } from '@ticketing/contracts/ticketing/knowledge/v1/knowledge_service_pb.ts';
import { SkillService } from '@ticketing/contracts/ticketing/knowledge/v1/skill_service_pb.ts';
import { ExportService } from '@ticketing/contracts/ticketing/reporting/v1/export_service_pb.ts';
import { ConfigurationService } from '@ticketing/contracts/ticketing/settings/v1/configuration_service_pb.ts';
import { EventService } from '@ticketing/contracts/ticketing/settings/v1/event_service_pb.ts';
import { SettingsService } from '@ticketing/contracts/ticketing/settings/v1/settings_service_pb.ts';
import { SubchannelService } from '@ticketing/contracts/ticketing/settings/v1/subchannel_service_pb.ts';
import { WebhookService } from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import { EmailTemplateService } from '@ticketing/contracts/ticketing/templates/v1/email_template_service_pb.ts';
import { RenderingService } from '@ticketing/contracts/ticketing/templates/v1/rendering_service_pb.ts';
import { TemplateService } from '@ticketing/contracts/ticketing/templates/v1/template_service_pb.ts';
import { AnalysisService } from '@ticketing/contracts/ticketing/tickets/v1/analysis_service_pb.ts';
import { AttachmentService } from '@ticketing/contracts/ticketing/tickets/v1/attachment_service_pb.ts';
import { ConversationService } from '@ticketing/contracts/ticketing/tickets/v1/conversation_service_pb.ts';
import { CustomerService } from '@ticketing/contracts/ticketing/tickets/v1/customer_service_pb.ts';
import { HistoryService } from '@ticketing/contracts/ticketing/tickets/v1/history_service_pb.ts';
import { MailService } from '@ticketing/contracts/ticketing/tickets/v1/mail_service_pb.ts';
import { SnapshotService } from '@ticketing/contracts/ticketing/tickets/v1/snapshot_service_pb.ts';
import { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { TicketService } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { settingChangedTopic, type Topic, tagChangedTopic, ticketChangedTopic } from '@ticketing/contracts/topics.ts';

/**
 * A part of a service's work that a process may do: serve requests, send events, handle events, deliver webhooks, send
 * mails, receive mails, analyse tickets, run scheduled tasks.
 */
export type Role = 'api' | 'relay' | 'consumer' | 'dispatcher' | 'mailer' | 'mail-receiver' | 'analyser' | 'scheduler';

/** A service of the system. */
export interface ServiceEntry {
  /** Its folder in `services/`, the audience of its tokens, and the middle of its variables `TICKETING_<NAME>_…`. */
  name: string;
  /** The default ports on which it listens. The default of its internal port is the HTTP port + 2000. */
  ports: { http: number; grpc?: number };
  /** The contracts that it serves. */
  contracts: readonly DescService[];
  roles: readonly Role[];
  /** Whether it has a database. */
  hasStore: boolean;
  /** The services that it calls, by name. No other service accepts its tokens. */
  calls: readonly string[];
  /**
   * The services among them that it calls on behalf of the callers whose requests it serves. All others it calls on its
   * own behalf only, and they accept no caller that its tokens name.
   */
  forwardsCallersTo: readonly string[];
  publishes: readonly Topic[];
  consumes: readonly Topic[];
  /**
   * Whether it uses the settings of the installation. It then keeps a copy of them, which it reads from the settings
   * service whenever they change.
   */
  readsSettings: boolean;
  /** Whether it stores secrets, and so needs a key to encrypt them. */
  keepsSecrets: boolean;
  /** Whether it stores data of tickets. When a ticket is deleted, it must erase that data and confirm the erasure. */
  keepsTicketData: boolean;
  /** Whether it makes requests to addresses that clients configure or send. */
  makesOutboundRequests?: boolean;
}

/** The services of the system. Builds, keys, the start, the gateway, erasures and tests are derived from this list. */
export const services: readonly ServiceEntry[] = [
  {
    name: 'tickets',
    ports: { http: 8081, grpc: 9081 },
    contracts: [
      SnapshotService,
      AnalysisService,
      TicketService,
      ConversationService,
      AttachmentService,
      CustomerService,
      MailService,
      HistoryService,
      TagService,
    ],
    roles: ['api', 'relay', 'consumer', 'mailer', 'mail-receiver', 'scheduler'],
    hasStore: true,
    calls: ['settings', 'templates', 'intents'],
    forwardsCallersTo: ['intents', 'templates'],
    publishes: [ticketChangedTopic, tagChangedTopic],
    consumes: [],
    readsSettings: true,
    keepsSecrets: false,
    makesOutboundRequests: true,
    keepsTicketData: true,
  },
  {
    name: 'intents',
    ports: { http: 8082, grpc: 9082 },
    contracts: [AiAgentService, SessionService, IntentAnalysisService, IntentService],
    roles: ['api', 'consumer', 'analyser', 'scheduler'],
    hasStore: true,
    calls: ['tickets', 'templates', 'settings'],
    forwardsCallersTo: ['tickets'],
    publishes: [],
    consumes: [ticketChangedTopic, tagChangedTopic],
    readsSettings: true,
    keepsSecrets: true,
    makesOutboundRequests: true,
    keepsTicketData: true,
  },
  {
    name: 'templates',
    ports: { http: 8083, grpc: 9083 },
    contracts: [TemplateService, EmailTemplateService, RenderingService],
    roles: ['api', 'consumer', 'scheduler'],
    hasStore: true,
    calls: ['tickets', 'intents', 'settings'],
    forwardsCallersTo: ['tickets'],
    publishes: [],
    consumes: [ticketChangedTopic, tagChangedTopic],
    readsSettings: true,
    keepsSecrets: false,
    makesOutboundRequests: true,
    keepsTicketData: true,
  },
  {
    name: 'knowledge',
    ports: { http: 8084, grpc: 9084 },
    contracts: [KnowledgeService, SkillService],
    roles: ['api', 'consumer', 'scheduler'],
    hasStore: true,
    calls: ['tickets', 'intents'],
    forwardsCallersTo: [],
    publishes: [],
    consumes: [tagChangedTopic],
    readsSettings: false,
    keepsSecrets: false,
    keepsTicketData: false,
  },
  {
    name: 'reporting',
    ports: { http: 8085, grpc: 9085 },
    contracts: [ExportService],
    roles: ['api', 'consumer', 'scheduler'],
    hasStore: true,
    calls: ['tickets', 'settings'],
    forwardsCallersTo: [],
    publishes: [],
    consumes: [ticketChangedTopic, tagChangedTopic],
    readsSettings: true,
    keepsSecrets: false,
    keepsTicketData: true,
  },
  {
    name: 'settings',
    ports: { http: 8086, grpc: 9086 },
    contracts: [ConfigurationService, SettingsService, SubchannelService, WebhookService, EventService],
    roles: ['api', 'relay', 'consumer', 'dispatcher', 'scheduler'],
    hasStore: true,
    calls: ['tickets', 'templates'],
    forwardsCallersTo: [],
    publishes: [settingChangedTopic],
    consumes: [ticketChangedTopic],
    readsSettings: false,
    keepsSecrets: true,
    makesOutboundRequests: true,
    keepsTicketData: true,
  },
  {
    name: 'gateway',
    ports: { http: 8080 },
    contracts: [],
    roles: ['api'],
    hasStore: false,
    calls: ['tickets', 'intents', 'templates', 'knowledge', 'reporting', 'settings'],
    forwardsCallersTo: ['tickets', 'intents', 'templates', 'knowledge', 'reporting', 'settings'],
    publishes: [],
    consumes: [],
    readsSettings: false,
    keepsSecrets: false,
    keepsTicketData: false,
  },
];

/** Returns the topics whose messages a service receives. */
export function consumedTopics({ consumes, readsSettings }: ServiceEntry): readonly Topic[] {
  return readsSettings ? [...consumes, settingChangedTopic] : consumes;
}

/** Returns the service with a name. Errors: there is no such service. */
export function serviceNamed(name: string): ServiceEntry {
  const entry = services.find((one) => one.name === name);
  if (!entry) throw new Error(`There is no service ${name}.`);
  return entry;
}

/** Whether a service calls another, so that this one accepts its tokens. */
export function doesCall(caller: string, called: string): boolean {
  return services.some(({ name, calls }) => name === caller && calls.includes(called));
}

/** Whether a service calls another on behalf of callers, so that this one accepts the callers that its tokens name. */
export function doesForwardCallers(caller: string, called: string): boolean {
  return services.some(({ name, forwardsCallersTo }) => name === caller && forwardsCallersTo.includes(called));
}

/** The services that must confirm that they have erased their data of a deleted ticket. */
export const ownersOfTicketData: readonly string[] = services
  .filter(({ keepsTicketData }) => keepsTicketData)
  .map(({ name }) => name);

/** Returns the name of a variable of a service, for example `TICKETING_TICKETS_HTTP_PORT`. */
export function variableName(service: string, name: string): string {
  return `TICKETING_${service.toUpperCase()}_${name}`;
}
