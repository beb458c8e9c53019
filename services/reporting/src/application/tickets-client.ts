import { type Client, Code, ConnectError } from '@connectrpc/connect';
import {
  type GetTicketSnapshotsResponse,
  SnapshotService,
} from '@ticketing/contracts/ticketing/tickets/v1/snapshot_service_pb.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import type { Kit } from '@ticketing/service-kit/lifecycle/kit.ts';

/** The operations of the tickets service that this service uses. */
export interface TicketsClient {
  /** The current state of tickets. Tickets that do not exist are left out. */
  snapshots(ids: readonly number[], call: OnBehalfOf): Promise<Snapshots>;
  /** The versions of the next tickets with ids above `afterId`, including deleted ones. Empty if there are no more. */
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
    async snapshots(ids, call) {
      const client = clientFor(call);
      const responses: GetTicketSnapshotsResponse[] = [];
      for (let at = 0; at < ids.length; at += batchSize) {
        responses.push(...(await readBatch(client, ids.slice(at, at + batchSize))));
      }
      const revisions = responses.map(({ tagRevision }) => tagRevision);
      return {
        snapshots: responses.flatMap(({ snapshots }) => snapshots),
        tags: responses.flatMap(({ tags }) => tags),
        // The lowest revision: the names in every response are at least as new.
        tagRevision: revisions.reduce((least, one) => (one < least ? one : least), revisions[0] ?? 0n),
      };
    },
    async versions(afterId) {
      const { versions } = await clientFor().listTicketVersions({ afterId });
      return versions;
    },
    confirmErasure: kit.confirmErasure,
  };
}

/** Reads tickets, and splits the batch if they are too large for one response. */
async function readBatch(
  client: Client<typeof SnapshotService>,
  ticketIds: readonly number[],
): Promise<GetTicketSnapshotsResponse[]> {
  try {
    return [await client.getTicketSnapshots({ ticketIds: [...ticketIds] })];
  } catch (error) {
    const isTooLarge = error instanceof ConnectError && error.code === Code.ResourceExhausted;
    if (!isTooLarge || ticketIds.length === 1) throw error;
    const half = Math.ceil(ticketIds.length / 2);
    return [
      ...(await readBatch(client, ticketIds.slice(0, half))),
      ...(await readBatch(client, ticketIds.slice(half))),
    ];
  }
}
