import { sweep } from '@ticketing/store/document/sweep.ts';
import type { TicketStore } from '../ticket/store/store.ts';
import type { MessageStores } from './add.ts';
import type { UnseenMessageId } from './external-id-store.ts';

/** The dependencies of the sweepers. */
export interface SweepDeps {
  tickets: Pick<TicketStore, 'findMessages'>;
  messages: MessageStores;
}

/** No request that adds a message takes this long. */
const unseenMs = 10 * 60_000;
const batch = 500;

/** Removes the messages that no ticket has, because the process that added or deleted them died, and their external ids. */
export async function sweepUnseenMessages({ tickets, messages: stores }: SweepDeps): Promise<void> {
  const { conversations, externalMessageIds } = stores;
  await sweep({
    batch,
    find: (limit) => conversations.unseenFor(unseenMs, limit),
    async settle(unseen) {
      const ids = await readMessageIds(tickets, unseen);
      for (const one of unseen) {
        const { messages, drafts } = ids.get(one.ticketId) ?? none;
        if (messages.has(one.id) || drafts.has(one.id)) await conversations.setSeen(one);
        else if (await conversations.removeUnseen(one)) await externalMessageIds.freeMessage(one.id);
      }
    },
  });
}

/**
 * Frees the external ids that were claimed for messages which no ticket has got: of mails whose tickets were not created, and
 * of drafts that were not published.
 */
export async function sweepUnseenMessageIds({ tickets, messages: { externalMessageIds } }: SweepDeps): Promise<void> {
  await sweep({
    batch,
    find: (limit) => externalMessageIds.unseenFor(unseenMs, limit),
    async settle(unseen) {
      const ids = await readMessageIds(tickets, unseen);
      const isSeen = (one: UnseenMessageId) => ids.get(one.ticketId)?.messages.has(one.conversationId) ?? false;
      const seen = unseen.filter(isSeen).map(({ externalId }) => externalId);
      if (seen.length > 0) await externalMessageIds.setSeen(seen);
      for (const one of unseen.filter((each) => !isSeen(each))) await externalMessageIds.freeUnseen(one);
    },
  });
}

interface TicketIds {
  /** Its messages that are no drafts, the first one included. */
  messages: ReadonlySet<number>;
  drafts: ReadonlySet<number>;
}

const none: TicketIds = { messages: new Set(), drafts: new Set() };

async function readMessageIds(
  tickets: SweepDeps['tickets'],
  unseen: readonly { ticketId: number }[],
): Promise<ReadonlyMap<number, TicketIds>> {
  const found = new Map<number, TicketIds>();
  for (const ticketId of new Set(unseen.map((one) => one.ticketId))) {
    const messages = await tickets.findMessages(ticketId);
    if (!messages) continue;
    const { conversationIds, draftIds, openingMessageId } = messages;
    const opening = openingMessageId === null ? [] : [openingMessageId];
    found.set(ticketId, { messages: new Set([...opening, ...conversationIds]), drafts: new Set(draftIds) });
  }
  return found;
}
