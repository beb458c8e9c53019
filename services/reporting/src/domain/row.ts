import type { Timestamp } from '@bufbuild/protobuf/wkt';
import {
  ChannelSchema,
  DirectionSchema,
  PrioritySchema,
  TicketStatusSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import type { TicketSnapshot } from '@ticketing/contracts/ticketing/tickets/v1/snapshot_service_pb.ts';
import { type Tag, TagType } from '@ticketing/contracts/ticketing/tickets/v1/tag_pb.ts';
import { type Ticket, TicketSchema } from '@ticketing/contracts/ticketing/tickets/v1/ticket_pb.ts';
import { messageEncoder } from '@ticketing/rest/encode.ts';
import { spellingsOf } from '@ticketing/rest/options.ts';

/** The row of a ticket. Units: times in Unix seconds. */
export interface Row {
  id: number;
  version: number;
  /** The tags on the ticket, and all their ancestors: whose names the row may show. */
  tagPathIds: readonly number[];
  /** The columns that are kept, by name; null is unset. */
  values: Readonly<Record<string, string | number | null>>;
}

const maxAncestors = 100;
/** A document holds 16 MiB, and its other columns are small. */
const maxRawDataBytes = 8 * 1024 * 1024;
const encodeTicket = messageEncoder(TicketSchema, 'include_raw_data');

/** Makes the row of a ticket. Source: specification, Reporting ticket row; decisions.md section 11. */
export function rowOf(snapshot: TicketSnapshot, tags: ReadonlyMap<number, Tag>): Row {
  const { ticket, manualWorkEntries } = snapshot;
  if (!ticket) throw new Error('a snapshot without its ticket');
  const createdAt = seconds(ticket.createdAt);
  const closedAt = seconds(ticket.closedAt);
  const dueBy = seconds(ticket.dueBy);
  return {
    id: ticket.id,
    version: ticket.version,
    tagPathIds: [...new Set(ticket.tagIds.flatMap((id) => lineOf(id, tags).map((tag) => tag.id)))],
    values: {
      channel: spelled(ChannelSchema, ticket.channel),
      direction: spelled(DirectionSchema, ticket.direction),
      status: spelled(TicketStatusSchema, ticket.status),
      priority: spelled(PrioritySchema, ticket.priority),
      contractId: ticket.contractId ?? null,
      customerId: ticket.customerId ?? null,
      customerLegitimation: ticket.customerLegitimation,
      ...topicsOf(ticket, tags),
      // Counted where messages are kept, once they are.
      incomingMessages: null,
      outgoingMessages: null,
      internalMessages: null,
      manualWorkEntries,
      createdAt,
      modifiedAt: seconds(ticket.modifiedAt),
      closedAt,
      dueBy,
      lastMessageAt: seconds(ticket.lastMessageAt),
      lastCustomerMessageAt: seconds(ticket.lastCustomerMessageAt),
      secondsToClose: difference(closedAt, createdAt),
      secondsClosedAfterSLA: difference(closedAt, dueBy),
      email: ticket.agent?.email ?? null,
      rawData: rawDataOf(ticket),
    },
  };
}

/** The first skill tag by id gives the topic: its top-level ancestor, and itself if that is another. */
function topicsOf(ticket: Ticket, tags: ReadonlyMap<number, Tag>) {
  const ids = ticket.tagIds.toSorted((left, right) => left - right);
  const names = ids.flatMap((id) => tags.get(id)?.name ?? []);
  const first = ids.find((id) => tags.get(id)?.type === TagType.SKILL);
  const line = first === undefined ? [] : lineOf(first, tags);
  return {
    topic: line.at(-1)?.name ?? null,
    subTopic: line.length > 1 ? (line[0]?.name ?? null) : null,
    allTags: names.length > 0 ? names.join(', ') : null,
  };
}

/** A tag and its ancestors, upwards. */
function lineOf(id: number, tags: ReadonlyMap<number, Tag>): Tag[] {
  const line: Tag[] = [];
  for (let tag = tags.get(id); tag && line.length <= maxAncestors; tag = tags.get(tag.parent ?? 0)) line.push(tag);
  return line;
}

/** The ticket as JSON; of one that is too large to be kept, without its texts. */
function rawDataOf(ticket: Ticket): string {
  const json = encodeTicket(ticket);
  const text = JSON.stringify(json);
  if (Buffer.byteLength(text) <= maxRawDataBytes) return text;
  return JSON.stringify({ ...json, body: null, bodyPlain: null, bodyClean: null });
}

function spelled(schema: Parameters<typeof spellingsOf>[0], value: number): string | null {
  return spellingsOf(schema).get(value) ?? null;
}

function seconds(time: Timestamp | undefined): number | null {
  return time ? Number(time.seconds) : null;
}

function difference(later: number | null, earlier: number | null): number | null {
  return later === null || earlier === null ? null : later - earlier;
}
