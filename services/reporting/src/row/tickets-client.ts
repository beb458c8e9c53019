import {
  type GetTicketSnapshotsResponse,
  SnapshotService,
} from '@ticketing/contracts/ticketing/tickets/v1/snapshot_service_pb.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import type { Kit } from '@ticketing/service-kit/lifecycle/kit.ts';

/** The operations of the tickets service that this service uses. */
export interface TicketsClient {
  /** Returns the current state of tickets, some at a time. Tickets that do not exist are left out. */
  snapshots(ids: readonly number[], call: OnBehalfOf): AsyncIterable<Snapshots>;
  /**
   * Returns the versions of the next tickets with ids above `afterId`, including deleted ones. Empty if there are no
   * more.
   */
  versions(afterId: number): Promise<{ ticketId: number; version: number; deleted: boolean }[]>;
  confirmErasure(ticketId: number, call: OnBehalfOf): Promise<void>;
}

/** Tickets, with their tags and the ancestors of these tags. */
export type Snapshots = Pick<GetTicketSnapshotsResponse, 'snapshots' | 'tags' | 'tagRevision'>;

const timeoutMs = 10_000;
const batchSize = 50;
const maxResponseBytes = 64 * 1024 * 1024;

/** Opens the client. Errors of every operation: those of the tickets service, as ConnectError. */
export function openTicketsClient(kit: Pick<Kit<unknown, unknown>, 'openClient' | 'confirmErasure'>): TicketsClient {
  const clientFor = kit.openClient('tickets', SnapshotService, { timeoutMs, maxResponseBytes });
  return {
    async *snapshots(ids, call) {
      const client = clientFor(call);
      for (let at = 0; at < ids.length; at += batchSize) {
        let ticketIds = ids.slice(at, at + batchSize);
        while (ticketIds.length > 0) {
          const response = await client.getTicketSnapshots({ ticketIds });
          yield response;
          ticketIds = response.remainingIds;
        }
      }
    },
    async versions(afterId) {
      const { versions } = await clientFor().listTicketVersions({ afterId });
      return versions;
    },
    confirmErasure: kit.confirmErasure,
  };
}
