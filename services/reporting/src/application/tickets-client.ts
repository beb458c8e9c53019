import { type Client, Code, ConnectError } from '@connectrpc/connect';
import {
  type GetTicketSnapshotsResponse,
  SnapshotService,
} from '@ticketing/contracts/ticketing/tickets/v1/snapshot_service_pb.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import type { Kit } from '@ticketing/service-kit/lifecycle/kit.ts';

/** The tickets service, as this one needs it. */
export interface TicketsClient {
  /** Tickets as they are now; those that do not exist are left out. */
  snapshots(ids: readonly number[], call: OnBehalfOf): Promise<Snapshots>;
  versions(afterId: number): Promise<{ ticketId: number; version: number; deleted: boolean }[]>;
  confirmErasure(ticketId: number, call: OnBehalfOf): Promise<void>;
}

/** Tickets, with the tags that they carry, and the ancestors of those. */
export type Snapshots = Pick<GetTicketSnapshotsResponse, 'snapshots' | 'tags' | 'tagRevision'>;

const timeoutMs = 10_000;
const atOnce = 50;
const maxResponseBytes = 64 * 1024 * 1024;

/** Opens the client. Errors of every operation: those of the tickets service, as ConnectError. */
export function openTicketsClient(kit: Pick<Kit<unknown, unknown>, 'openClient'>): TicketsClient {
  const clientFor = kit.openClient('tickets', SnapshotService, { timeoutMs, maxResponseBytes });
  return {
    async snapshots(ids, call) {
      const client = clientFor(call);
      const parts: GetTicketSnapshotsResponse[] = [];
      for (let at = 0; at < ids.length; at += atOnce)
        parts.push(...(await readPart(client, ids.slice(at, at + atOnce))));
      const revisions = parts.map(({ tagRevision }) => tagRevision);
      return {
        snapshots: parts.flatMap(({ snapshots }) => snapshots),
        tags: parts.flatMap(({ tags }) => tags),
        // The names of each part are at least as new as this.
        tagRevision: revisions.reduce((least, one) => (one < least ? one : least), revisions[0] ?? 0n),
      };
    },
    async versions(afterId) {
      const { versions } = await clientFor().listTicketVersions({ afterId });
      return versions;
    },
    async confirmErasure(ticketId, call) {
      await clientFor(call).confirmErasure({ ticketId });
    },
  };
}

/** Very large tickets may be too much for one answer. */
async function readPart(
  client: Client<typeof SnapshotService>,
  ticketIds: readonly number[],
): Promise<GetTicketSnapshotsResponse[]> {
  try {
    return [await client.getTicketSnapshots({ ticketIds: [...ticketIds] })];
  } catch (error) {
    if (!(error instanceof ConnectError) || error.code !== Code.ResourceExhausted || ticketIds.length === 1)
      throw error;
    const half = Math.ceil(ticketIds.length / 2);
    return [...(await readPart(client, ticketIds.slice(0, half))), ...(await readPart(client, ticketIds.slice(half)))];
  }
}
