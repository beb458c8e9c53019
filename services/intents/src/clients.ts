import { ConfigurationService } from '@ticketing/contracts/ticketing/settings/v1/configuration_service_pb.ts';
import { RenderingService } from '@ticketing/contracts/ticketing/templates/v1/rendering_service_pb.ts';
import { TemplateService } from '@ticketing/contracts/ticketing/templates/v1/template_service_pb.ts';
import { AnalysisService } from '@ticketing/contracts/ticketing/tickets/v1/analysis_service_pb.ts';
import { ConversationService } from '@ticketing/contracts/ticketing/tickets/v1/conversation_service_pb.ts';
import { SnapshotService } from '@ticketing/contracts/ticketing/tickets/v1/snapshot_service_pb.ts';
import { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { TicketService } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import type { Kit } from '@ticketing/service-kit/lifecycle/kit.ts';

const timeoutMs = 5_000;
const mebibyte = 1024 * 1024;

/** Opens the clients of other services, each for a call. They are closed after everything that is opened later. */
export function openClients({ openClient }: Pick<Kit<unknown, unknown>, 'openClient'>) {
  return {
    configuration: openClient('settings', ConfigurationService, { timeoutMs }),
    tags: openClient('tickets', TagService, { timeoutMs }),
    tagLists: openClient('tickets', TagService, { timeoutMs, maxResponseBytes: 64 * mebibyte }),
    tickets: openClient('tickets', TicketService, { timeoutMs }),
    // A ticket has up to 5 MiB of text, in several forms.
    snapshots: openClient('tickets', SnapshotService, { timeoutMs, maxResponseBytes: 64 * mebibyte }),
    analysis: openClient('tickets', AnalysisService, { timeoutMs }),
    conversations: openClient('tickets', ConversationService, { timeoutMs, maxResponseBytes: 16 * mebibyte }),
    // A response template has up to 1 MiB of text, and the wrapper around it.
    templates: openClient('templates', TemplateService, { timeoutMs, maxResponseBytes: 16 * mebibyte }),
    rendering: openClient('templates', RenderingService, { timeoutMs, maxResponseBytes: 16 * mebibyte }),
  };
}
