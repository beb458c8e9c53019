import { NotSentReason } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import type {
  GetTicketSnapshotsRequest,
  GetTicketSnapshotsResponse,
  ListTicketVersionsRequest,
  ListTicketVersionsResponse,
  TicketSnapshot,
} from '@ticketing/contracts/ticketing/tickets/v1/snapshot_service_pb.ts';
import { startTimeSlice } from '@ticketing/runtime/time-slice.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { callerKey } from '@ticketing/service-kit/identity/caller.ts';
import type { PageBudget } from '@ticketing/store/paging/page-budget.ts';
import { findReasonNotSent } from '../rules/sending.ts';
import { type ReadSettings, settingsKnowing, type TicketSettings } from '../settings.ts';
import { tagMessages } from '../tag/to-proto.ts';
import type { CheckDeps } from './checks.ts';
import type { TicketState } from './rules/fields.ts';
import { replyRecipients } from './rules/reply-recipients.ts';
import { countsAsSpam } from './rules/spam.ts';
import { chooseMailSender, ownAddresses } from './rules/subchannels.ts';
import type { StoredTicket } from './store/document.ts';
import type { TicketStore } from './store/store.ts';
import type { RenderOptions, TicketViews } from './views.ts';

/** The most bytes of stored tickets in a response. Its texts can be larger: those of HTML are sanitised. */
const maxBytes = 8 * 1024 * 1024;

interface SnapshotDeps extends CheckDeps {
  tickets: Pick<TicketStore, 'findSome'>;
  pages: PageBudget;
  views: Pick<TicketViews, 'full'>;
}

/**
 * Returns tickets as they are now, for services that store data of them: as many as fit into the limit of bytes.
 *
 * Errors: too_much_at_once.
 */
export async function getTicketSnapshots(
  deps: SnapshotDeps,
  call: Call,
  { ticketIds, withReplyNotSent }: GetTicketSnapshotsRequest,
): Promise<GetTicketSnapshotsResponse> {
  const { tickets: stored, bytes, remainingIds } = await deps.tickets.findSome(ticketIds, maxBytes);
  await deps.pages.take(callerKey(call.caller), bytes, call);
  // Read after the tickets, so that the tree has each of their tags that still exists.
  const treeBefore = await deps.tags.tree();
  const options = {
    ...{ caller: call.caller, withRawData: true, tree: treeBefore, settings: await deps.settings() },
    findReplyNotSent: withReplyNotSent ? replyReasons(deps.settings) : async () => undefined,
  };
  const snapshots: TicketSnapshot[] = [];
  const slice = startTimeSlice();
  for (const one of stored) {
    snapshots.push(await toSnapshot(deps.views, one, options));
    if (slice.isOver()) await slice.pause();
  }
  const tree = await deps.tags.tree();
  const tagIdsOfTickets = new Set(stored.flatMap(({ ticket }) => ticket.tagIds));
  const tagIds = new Set([...tagIdsOfTickets].flatMap((id) => tree.pathToRoot(id).map((tag) => tag.id)));
  return {
    $typeName: 'ticketing.tickets.v1.GetTicketSnapshotsResponse',
    snapshots,
    tags: tagMessages([...tagIds], tree),
    // The tags in the response may be newer than this revision, but none is older.
    tagRevision: BigInt(Math.min(treeBefore.revision, tree.revision)),
    remainingIds,
  };
}

interface SnapshotOptions extends RenderOptions {
  settings: TicketSettings;
  findReplyNotSent: ReturnType<typeof replyReasons>;
}

async function toSnapshot(
  views: SnapshotDeps['views'],
  stored: StoredTicket,
  { settings, findReplyNotSent, ...options }: SnapshotOptions,
): Promise<TicketSnapshot> {
  const jsonTexts: Record<string, string> = {};
  const ticket = { ...stored.ticket };
  const replyNotSent = await findReplyNotSent(ticket);
  for (const name of ['rawData', 'workitem', 'clientData'] as const) {
    const text = ticket[name];
    if (text !== null) jsonTexts[name] = text;
    ticket[name] = null;
  }
  return {
    $typeName: 'ticketing.tickets.v1.TicketSnapshot',
    ticket: await views.full({ ...stored, ticket }, options),
    manualWorkEntries: stored.manualWorkEntries,
    jsonTexts,
    incomingMessages: ticket.incomingMessages,
    outgoingMessages: ticket.outgoingMessages,
    internalMessages: ticket.internalMessages,
    process: ticket.process,
    isSpam: countsAsSpam(ticket, settings.spamDetectionTagId),
    ...(replyNotSent === undefined ? {} : { replyNotSent }),
  };
}

/**
 * Makes the function that says why a reply to a ticket that names no recipients would not be sent; undefined if it would be,
 * or if that is not known.
 */
function replyReasons(settings: ReadSettings): (ticket: TicketState) => Promise<NotSentReason | undefined> {
  let owners: Promise<TicketSettings | undefined> | undefined;
  const hasSender = (known: TicketSettings, { subchannelId }: TicketState) =>
    chooseMailSender(known, [subchannelId]).from !== null;
  return async (ticket) => {
    const known = await settingsKnowing(settings, [ticket.subchannelId]);
    const recipients = replyRecipients(ticket, ownAddresses(known)) ?? {};
    const reason = findReasonNotSent(ticket, recipients, { isNamed: false });
    if (reason !== undefined || hasSender(known, ticket)) return reason;
    // Only the owner of the settings knows a mailbox that was made a moment ago.
    owners ??= settings('owner').catch(() => undefined);
    const asked = await owners;
    return asked === undefined || hasSender(asked, ticket) ? undefined : NotSentReason.NO_SENDER;
  };
}

const defaultLimit = 1000;

/** Lists the versions of all tickets, page by page, for services that compare them with those that they have stored. */
export async function listTicketVersions(
  { tickets }: { tickets: Pick<TicketStore, 'versionsAfter'> },
  _call: Call,
  { afterId, limit = defaultLimit }: ListTicketVersionsRequest,
): Promise<ListTicketVersionsResponse> {
  const versions = await tickets.versionsAfter(afterId, limit);
  return {
    $typeName: 'ticketing.tickets.v1.ListTicketVersionsResponse',
    versions: versions.map((one) => ({ $typeName: 'ticketing.tickets.v1.TicketVersion', ...one })),
  };
}
