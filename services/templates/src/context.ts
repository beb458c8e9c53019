import type { Client } from '@connectrpc/connect';
import { AiAgentService } from '@ticketing/contracts/ticketing/intents/v1/ai_agent_service_pb.ts';
import { ConfigurationService } from '@ticketing/contracts/ticketing/settings/v1/configuration_service_pb.ts';
import { SnapshotService } from '@ticketing/contracts/ticketing/tickets/v1/snapshot_service_pb.ts';
import { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { TicketService } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { type FileContext, fileContext } from '@ticketing/files/file-context.ts';
import type { LargeJson } from '@ticketing/rest/limits/large-json.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import type { Kit } from '@ticketing/service-kit/lifecycle/kit.ts';
import { type ErasedIds, erasedIds } from '@ticketing/store/ids/erased-ids.ts';
import { type IdSequence, idSequence } from '@ticketing/store/ids/id-sequence.ts';
import type { PageBudget } from '@ticketing/store/paging/page-budget.ts';
import type { TemplatesConfig } from './config.ts';
import { type EmailTemplateStore, emailTemplateStore } from './email-template/store.ts';
import { measureRenders } from './rendering/metrics.ts';
import { openRendering, type Rendering } from './rendering/open.ts';
import { erasedCollections } from './set-up-store.ts';
import type { TemplateSettings } from './settings.ts';
import { type TemplateDeletionStore, templateDeletionStore } from './template/deletion-store.ts';
import { type TemplateStore, templateStore } from './template/store.ts';

/** The stores and clients that the handlers of this service use. */
export interface Context extends FileContext {
  templates: TemplateStore;
  templateIds: IdSequence;
  emailTemplates: EmailTemplateStore;
  emailTemplateIds: IdSequence;
  erasedTickets: ErasedIds;
  deletedTags: ErasedIds;
  deletions: TemplateDeletionStore;
  rendering: Rendering;
  /** Reads the values of templates that tickets returns as JSON. */
  json: LargeJson;
  pages: PageBudget;
  settings(): Promise<TemplateSettings>;
  clients: Clients;
}

/** Opens clients of other services, for a call. */
export interface Clients {
  tags(call: OnBehalfOf): Client<typeof TagService>;
  tickets(call: OnBehalfOf): Client<typeof TicketService>;
  snapshots(call: OnBehalfOf): Client<typeof SnapshotService>;
  configuration(call: OnBehalfOf): Client<typeof ConfigurationService>;
  aiAgents(call: OnBehalfOf): Client<typeof AiAgentService>;
}

const timeoutMs = 5_000;
/** The values of a ticket have its texts several times. */
const maxResponseBytes = 64 * 1024 * 1024;

/** Opens the stores on the database of a kit. */
export function openContext(kit: Kit<TemplatesConfig, TemplateSettings>): Context {
  const { runtime } = kit;
  const { connection } = kit.database;
  const rendering = openRendering(kit.log, {
    timeoutMs: kit.config.renderTimeoutMs,
    onStopped: measureRenders(kit.metrics.registry),
  });
  kit.onClose(() => rendering.close());
  return {
    ...fileContext(connection, kit),
    templates: templateStore(connection),
    templateIds: idSequence(connection, 'template'),
    emailTemplates: emailTemplateStore(connection, runtime),
    emailTemplateIds: idSequence(connection, 'emailTemplate'),
    erasedTickets: erasedIds(connection, erasedCollections.tickets, runtime.now),
    deletedTags: erasedIds(connection, erasedCollections.tags, runtime.now),
    deletions: templateDeletionStore(connection, runtime.now),
    rendering,
    json: kit.json,
    pages: kit.pages,
    settings: kit.settings,
    clients: {
      tags: kit.openClient('tickets', TagService, { timeoutMs }),
      tickets: kit.openClient('tickets', TicketService, { timeoutMs, maxResponseBytes }),
      snapshots: kit.openClient('tickets', SnapshotService, { timeoutMs }),
      configuration: kit.openClient('settings', ConfigurationService, { timeoutMs }),
      aiAgents: kit.openClient('intents', AiAgentService, { timeoutMs }),
    },
  };
}
