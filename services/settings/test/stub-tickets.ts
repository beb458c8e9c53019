import { Code, ConnectError } from '@connectrpc/connect';
import { SnapshotService } from '@ticketing/contracts/ticketing/tickets/v1/snapshot_service_pb.ts';
import { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { type StubServer, startStubServer } from '@ticketing/testkit/stub-server.ts';

/** What the stub of the tickets service knows and has been told. */
export interface TicketsModel {
  tagIds: Set<number>;
  /** The tickets whose erasure was confirmed. */
  confirmed: number[];
  /** Whether every call fails with `unavailable`. */
  isUnavailable: boolean;
}

/** Serves a model over gRPC, as the part of the tickets service that the settings service calls. */
export function serveTickets(model: TicketsModel): Promise<StubServer> {
  const requireAvailable = () => {
    if (model.isUnavailable) throw new ConnectError('unavailable', Code.Unavailable);
  };
  return startStubServer((router) => {
    router.service(TagService, {
      getTag({ id }) {
        requireAvailable();
        if (!model.tagIds.has(id)) throw new ConnectError('Tag not found', Code.NotFound);
        return { tag: { id } };
      },
    });
    router.service(SnapshotService, {
      confirmErasure({ ticketId }) {
        requireAvailable();
        model.confirmed.push(ticketId);
        return {};
      },
    });
  });
}
