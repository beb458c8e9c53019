import type { Client } from '@connectrpc/connect';
import { AiAgentService } from '@ticketing/contracts/ticketing/intents/v1/ai_agent_service_pb.ts';
import { SnapshotService } from '@ticketing/contracts/ticketing/tickets/v1/snapshot_service_pb.ts';
import { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { TicketService } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { type FileContext, fileContext } from '@ticketing/files/file-context.ts';
import type { LargeJson } from '@ticketing/rest/limits/large-json.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import type { Kit } from '@ticketing/service-kit/lifecycle/kit.ts';
import { type ErasedIds, erasedIds } from '@ticketing/store/ids/erased-ids.ts';
import { type IdSequence, idSequence } from '@ticketing/store/ids/id-sequence.ts';
import type { PageBudget } from '@ticketing/store/paging/page-budget.ts';
import type { WrapperParts } from '../email-template/wrappers.ts';
import type { Rendering } from '../rendering/open.ts';
import type { TemplateSettings } from '../settings.ts';
import { type TemplateDeletionStore, templateDeletionStore } from './deletion-store.ts';
import { erasedCollections } from './schema.ts';
import type { TemplateStore } from './store.ts';

/** The dependencies of the handlers that read and write response templates. */
export interface TemplateParts {
  templates: TemplateStore;
  templateIds: IdSequence;
  files: FileContext;
  /** The e-mail templates around response templates. */
  wrappers: WrapperParts;
  /** The tickets and tags that were deleted lately, which no template may name any more. */
  erased: { tickets: ErasedIds; tags: ErasedIds };
  rendering: Rendering;
  pages: PageBudget;
  /** Opens clients for the things that templates name, for a call. */
  clients: {
    tags(call: OnBehalfOf): Client<typeof TagService>;
    snapshots(call: OnBehalfOf): Client<typeof SnapshotService>;
  };
}

/** The dependencies of deletions. The service that owns AI agents drops its references to a deleted template. */
export interface DeletionParts extends Pick<TemplateParts, 'templates' | 'files'> {
  deletions: TemplateDeletionStore;
  /** Opens a client for AI agents, for a call. */
  aiAgents(call: OnBehalfOf): Client<typeof AiAgentService>;
  runtime: Pick<Runtime, 'now'>;
}

/** The dependencies of previews, which store nothing. */
export interface PreviewParts extends Pick<TemplateParts, 'wrappers' | 'rendering' | 'pages'> {
  /** Reads the values of a ticket, which may be large. */
  json: LargeJson;
  /** Opens a client for tickets, for a call. */
  tickets(call: OnBehalfOf): Client<typeof TicketService>;
}

type KitOfTemplates = Pick<
  Kit<unknown, TemplateSettings>,
  'database' | 'outbound' | 'runtime' | 'settings' | 'pages' | 'json' | 'openClient'
>;

const timeoutMs = 5_000;
/** The values of a ticket have its texts several times. */
const maxResponseBytes = 64 * 1024 * 1024;

/** Opens the response templates on the database of a kit. */
export function openTemplates(
  kit: KitOfTemplates,
  { templates, wrappers, rendering }: Pick<TemplateParts, 'templates' | 'wrappers' | 'rendering'>,
): { template: TemplateParts; deletion: DeletionParts; preview: PreviewParts } {
  const { runtime, pages, json, openClient } = kit;
  const { connection } = kit.database;
  const files = fileContext(connection, kit);
  return {
    template: {
      templates,
      templateIds: idSequence(connection, 'template'),
      files,
      wrappers,
      erased: {
        tickets: erasedIds(connection, erasedCollections.tickets, runtime.now),
        tags: erasedIds(connection, erasedCollections.tags, runtime.now),
      },
      rendering,
      pages,
      clients: {
        tags: openClient('tickets', TagService, { timeoutMs }),
        snapshots: openClient('tickets', SnapshotService, { timeoutMs }),
      },
    },
    deletion: {
      templates,
      files,
      deletions: templateDeletionStore(connection, runtime.now),
      aiAgents: openClient('intents', AiAgentService, { timeoutMs }),
      runtime,
    },
    preview: {
      wrappers,
      rendering,
      pages,
      json,
      tickets: openClient('tickets', TicketService, { timeoutMs, maxResponseBytes }),
    },
  };
}
