import { Code, ConnectError } from '@connectrpc/connect';
import { AiAgentService } from '@ticketing/contracts/ticketing/intents/v1/ai_agent_service_pb.ts';
import { ConfigurationService } from '@ticketing/contracts/ticketing/settings/v1/configuration_service_pb.ts';
import { SnapshotService } from '@ticketing/contracts/ticketing/tickets/v1/snapshot_service_pb.ts';
import { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { TicketService } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { type StubServer, startStubServer } from '@ticketing/testkit/stub-server.ts';

/** The state of the stubs of the tickets and the settings service, and the calls that they have received. */
export interface ServicesModel {
  tagIds: Set<number>;
  /** The values of templates for each ticket. */
  tickets: Map<number, object>;
  /** The ids of tickets that were deleted, and are still listed. */
  deletedIds: Set<number>;
  /** The tickets whose erasure was confirmed. */
  confirmed: number[];
  /** The e-mail templates that settings has dropped. */
  dropped: number[];
  /** The response templates that AI agents have dropped. */
  droppedByAgents: number[];
  /** How often the versions of tickets were listed. */
  versionPages: number;
  /** Whether every call fails with `unavailable`. */
  isUnavailable: boolean;
  /** How many calls have failed with it. */
  failures: number;
  /** Called before a tag is returned. */
  onTagRead(): Promise<void>;
}

/** The model of an empty system. */
export const emptyModel = (): ServicesModel => ({
  tagIds: new Set(),
  tickets: new Map(),
  deletedIds: new Set(),
  confirmed: [],
  dropped: [],
  droppedByAgents: [],
  versionPages: 0,
  isUnavailable: false,
  failures: 0,
  onTagRead: async () => undefined,
});

/** Serves a model over gRPC, as the parts of other services that the templates service calls. */
export function serveModel(model: ServicesModel): Promise<StubServer> {
  const requireAvailable = () => {
    if (!model.isUnavailable) return;
    model.failures += 1;
    throw new ConnectError('unavailable', Code.Unavailable);
  };
  return startStubServer((router) => {
    router.service(TagService, {
      async getTag({ id }) {
        requireAvailable();
        if (!model.tagIds.has(id)) throw new ConnectError('Tag not found', Code.NotFound);
        await model.onTagRead();
        return { tag: { id } };
      },
    });
    router.service(TicketService, {
      getTemplateVariables({ ticketId, contractId }) {
        requireAvailable();
        const ofTicket = ticketId === undefined ? {} : model.tickets.get(ticketId);
        if (!ofTicket) throw new ConnectError('Ticket not found', Code.NotFound);
        const contract = contractId === undefined ? {} : { contract: { id: contractId } };
        const none = {
          ticket: null,
          customer: null,
          contract: null,
          agent: { firstName: 'Ada' },
          intent: null,
          in: {},
        };
        return { variables: new TextEncoder().encode(JSON.stringify({ ...none, ...ofTicket, ...contract })) };
      },
    });
    router.service(SnapshotService, {
      listTicketVersions({ afterId, limit = 1000 }) {
        requireAvailable();
        model.versionPages += 1;
        const all = [...model.tickets.keys(), ...model.deletedIds].sort((left, right) => left - right);
        const page = all.filter((id) => id > afterId).slice(0, limit);
        return {
          versions: page.map((ticketId) => ({ ticketId, version: 1, deleted: model.deletedIds.has(ticketId) })),
        };
      },
      confirmErasure({ ticketId }) {
        requireAvailable();
        model.confirmed.push(ticketId);
        return {};
      },
    });
    router.service(AiAgentService, {
      dropTemplate({ templateId }) {
        requireAvailable();
        model.droppedByAgents.push(templateId);
        return {};
      },
    });
    router.service(ConfigurationService, {
      dropEmailTemplate({ emailTemplateId }) {
        requireAvailable();
        model.dropped.push(emailTemplateId);
        return {};
      },
    });
  });
}
