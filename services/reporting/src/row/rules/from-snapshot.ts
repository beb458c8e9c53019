import type { JsonObject } from '@bufbuild/protobuf';
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
import { messageEncoder } from '@ticketing/rest/codec/encode.ts';
import { readSpellings } from '@ticketing/rest/codec/options.ts';

/** The row of a ticket. Units: times in Unix seconds. */
export interface Row {
  id: number;
  version: number;
  /** The tags on the ticket and all their ancestors. The row shows names of some of them. */
  tagPathIds: readonly number[];
  /** The values of the stored columns, by column name; null is unset. */
  values: Readonly<Record<string, string | number | null>>;
}

const maxAncestors = 100;
/** MongoDB limits a document to 16 MiB; the other columns are small. */
const maxRawDataBytes = 8 * 1024 * 1024;
const encodeTicket = messageEncoder(TicketSchema, 'include_raw_data');

/**
 * Builds the row of a ticket; `tags` must contain its tags and their ancestors.
 *
 * Source: docs/reference/api.md, Reporting rows.
 */
export function toRow(snapshot: TicketSnapshot, tags: ReadonlyMap<number, Tag>): Row {
  const { ticket, incomingMessages, outgoingMessages, internalMessages, manualWorkEntries } = snapshot;
  if (!ticket) throw new Error('the snapshot has no ticket');
  const createdAt = seconds(ticket.createdAt);
  const closedAt = seconds(ticket.closedAt);
  const dueBy = seconds(ticket.dueBy);
  return {
    id: ticket.id,
    version: ticket.version,
    tagPathIds: [...new Set(ticket.tagIds.flatMap((id) => toPath(id, tags).map((tag) => tag.id)))],
    values: {
      channel: toSpelling(ChannelSchema, ticket.channel),
      direction: toSpelling(DirectionSchema, ticket.direction),
      status: toSpelling(TicketStatusSchema, ticket.status),
      priority: toSpelling(PrioritySchema, ticket.priority),
      contractId: ticket.contractId ?? null,
      customerId: ticket.customerId ?? null,
      customerLegitimation: ticket.customerLegitimation,
      ...toTopics(ticket, tags),
      incomingMessages,
      outgoingMessages,
      internalMessages,
      manualWorkEntries,
      createdAt,
      modifiedAt: seconds(ticket.modifiedAt),
      closedAt,
      dueBy,
      lastMessageAt: seconds(ticket.lastMessageAt),
      lastCustomerMessageAt: seconds(ticket.lastCustomerMessageAt),
      secondsToClose: secondsBetween(closedAt, createdAt),
      secondsClosedAfterSLA: secondsBetween(closedAt, dueBy),
      email: ticket.agent?.email ?? null,
      rawData: toRawData(ticket, snapshot.jsonTexts),
    },
  };
}

/** `topic` is the top-level ancestor of the skill tag with the lowest id, `subTopic` this tag unless it is top-level. */
function toTopics(ticket: Ticket, tags: ReadonlyMap<number, Tag>) {
  const ids = ticket.tagIds.toSorted((left, right) => left - right);
  const names = ids.flatMap((id) => tags.get(id)?.name ?? []);
  const first = ids.find((id) => tags.get(id)?.type === TagType.SKILL);
  const path = first === undefined ? [] : toPath(first, tags);
  return {
    topic: path.at(-1)?.name ?? null,
    subTopic: path.length > 1 ? (path[0]?.name ?? null) : null,
    allTags: names.length > 0 ? names.join(', ') : null,
  };
}

/** Returns a tag and its ancestors, from the tag up to the top level. */
function toPath(id: number, tags: ReadonlyMap<number, Tag>): Tag[] {
  const path: Tag[] = [];
  for (let tag = tags.get(id); tag && path.length <= maxAncestors; tag = tags.get(tag.parent ?? 0)) path.push(tag);
  return path;
}

/**
 * Returns the ticket in full form as JSON text. If that is too large to be stored, the bodies of the ticket are null in
 * it.
 */
function toRawData(ticket: Ticket, jsonTexts: TicketSnapshot['jsonTexts']): string {
  const json = encodeTicket(ticket);
  const text = jsonText(json, jsonTexts);
  if (Buffer.byteLength(text) <= maxRawDataBytes) return text;
  return jsonText({ ...json, body: null, bodyPlain: null, bodyClean: null }, jsonTexts);
}

/** Returns an object as JSON text; for some of its members the text is given. */
function jsonText(json: JsonObject, given: Readonly<Record<string, string>>): string {
  const members = Object.entries(json).map(([name, value]) => {
    const text = Object.hasOwn(given, name) ? given[name] : JSON.stringify(value);
    return `${JSON.stringify(name)}:${text}`;
  });
  return `{${members.join(',')}}`;
}

function toSpelling(schema: Parameters<typeof readSpellings>[0], value: number): string | null {
  return readSpellings(schema).get(value) ?? null;
}

function seconds(time: Timestamp | undefined): number | null {
  return time ? Number(time.seconds) : null;
}

function secondsBetween(later: number | null, earlier: number | null): number | null {
  return later === null || earlier === null ? null : later - earlier;
}
