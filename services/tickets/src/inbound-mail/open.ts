import type { FileContext } from '@ticketing/files/file-context.ts';
import type { IdSequence } from '@ticketing/store/ids/id-sequence.ts';
import type { MessageStores, MessageWriter } from '../message/add.ts';
import type { TicketTokens } from '../message/rules/ticket-token.ts';
import type { ReadSettings } from '../settings.ts';
import type { TextWork } from '../text/work.ts';
import type { TicketWrites } from '../ticket/create.ts';
import type { TicketStore } from '../ticket/store/store.ts';
import type { MailReader } from './reader.ts';

/** The dependencies of incoming mail. */
export interface InboundMailDeps {
  mailReader: Pick<MailReader, 'read'>;
  settings: ReadSettings;
  ticketTokens: TicketTokens;
  tickets: Pick<TicketStore, 'find' | 'findMessages'>;
  newTickets: NewTickets;
  messages: MessageStores;
  writer: Pick<MessageWriter, 'add' | 'findKnown'>;
  attachments: FileContext;
}

/** How a mail becomes a new ticket. */
export interface NewTickets extends Pick<TicketWrites, 'draft' | 'insert'> {
  ids: Pick<IdSequence, 'next'>;
  textWork: Pick<TextWork, 'bodyFields'>;
}
