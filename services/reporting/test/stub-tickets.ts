import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { Channel, Direction, Priority, TicketStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import {
  SnapshotService,
  TicketSnapshotSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/snapshot_service_pb.ts';
import { type Tag, TagSchema, TagType } from '@ticketing/contracts/ticketing/tickets/v1/tag_pb.ts';
import { type Ticket, TicketSchema } from '@ticketing/contracts/ticketing/tickets/v1/ticket_pb.ts';
import { type StubServer, startStubServer } from '@ticketing/testkit/stub-server.ts';

type TicketInit = Exclude<MessageInitShape<typeof TicketSchema>, Ticket>;

/** The tickets and tags of a stub of the tickets service, which tests change. */
export class TicketModel {
  readonly tickets = new Map<number, { version: number; deleted: boolean; fields: TicketInit }>();
  readonly tags = new Map<number, Tag>();
  /** How many messages tickets have: incoming, outgoing and internal ones. */
  readonly messageCounts = new Map<number, [number, number, number]>();
  readonly confirmed: { ticketId: number; owner: string | null }[] = [];
  tagRevision = 0;
  /** Whether every call to the stub fails with `unavailable`. */
  isUnavailable = false;
  refusedCalls = 0;
  /** How many tickets the stub returns at a time. */
  maxSnapshots = Number.POSITIVE_INFINITY;

  /** Creates a ticket or changes it. Returns its version. */
  put(id: number, fields: TicketInit = {}): number {
    const before = this.tickets.get(id);
    const version = (before?.version ?? 0) + 1;
    this.tickets.set(id, { version, deleted: false, fields: { ...before?.fields, ...fields } });
    return version;
  }

  delete(id: number): number {
    const version = (this.tickets.get(id)?.version ?? 0) + 1;
    this.tickets.set(id, { version, deleted: true, fields: {} });
    return version;
  }

  putTag(id: number, name: string, parent?: number, type: TagType = TagType.SKILL): void {
    this.tagRevision += 1;
    this.tags.set(id, create(TagSchema, { id, name, type, ...(parent === undefined ? {} : { parent }) }));
  }

  snapshots(ids: readonly number[]) {
    const found = ids.flatMap((id) => {
      const ticket = this.tickets.get(id);
      return ticket && !ticket.deleted ? [{ id, ...ticket }] : [];
    });
    const snapshots = found.map(({ id, version, fields }) => {
      const [incomingMessages = 0, outgoingMessages = 0, internalMessages = 0] = this.messageCounts.get(id) ?? [];
      const counts = { incomingMessages, outgoingMessages, internalMessages, manualWorkEntries: version - 1 };
      return create(TicketSnapshotSchema, { ticket: toTicket(id, version, fields), ...counts });
    });
    return { snapshots, tags: [...this.tags.values()], tagRevision: BigInt(this.tagRevision) };
  }

  versions(afterId: number, limit = 1000) {
    return [...this.tickets]
      .filter(([id]) => id > afterId)
      .sort(([left], [right]) => left - right)
      .slice(0, limit)
      .map(([ticketId, { version, deleted }]) => ({ ticketId, version, deleted }));
  }
}

function toTicket(id: number, version: number, fields: TicketInit) {
  const createdAt = { seconds: 1_700_000_000n, nanos: 0 };
  return create(TicketSchema, {
    ...{ channel: Channel.EMAIL, direction: Direction.IN, status: TicketStatus.OPEN, priority: Priority.LOW },
    ...{ createdAt, modifiedAt: createdAt },
    ...fields,
    id,
    version,
  });
}

/** Serves a model over gRPC, as the part of the tickets service that the reporting service calls. */
export function serveTickets(model: TicketModel): Promise<StubServer> {
  const requireAvailable = () => {
    if (!model.isUnavailable) return;
    model.refusedCalls += 1;
    throw new ConnectError('unavailable', Code.Unavailable);
  };
  return startStubServer(({ service }) => {
    service(SnapshotService, {
      getTicketSnapshots({ ticketIds }) {
        requireAvailable();
        const read = ticketIds.slice(0, model.maxSnapshots);
        return { ...model.snapshots(read), remainingIds: ticketIds.slice(read.length) };
      },
      listTicketVersions({ afterId, limit }) {
        requireAvailable();
        return { versions: model.versions(afterId, limit) };
      },
      confirmErasure({ ticketId }, { requestHeader }) {
        requireAvailable();
        const token = requestHeader.get('authorization')?.split('.')[1] ?? '';
        const { iss } = JSON.parse(Buffer.from(token, 'base64url').toString()) as { iss: string };
        model.confirmed.push({ ticketId, owner: iss });
        return {};
      },
    });
  });
}
