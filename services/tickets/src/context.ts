import type { FileContext } from '@ticketing/files/file-context.ts';
import type { LargeJson } from '@ticketing/rest/limits/large-json.ts';
import type { KeyedQueue } from '@ticketing/runtime/keyed-queue.ts';
import type { KeyedSlots } from '@ticketing/runtime/keyed-slots.ts';
import type { ProfileStore } from '@ticketing/store/cache/profile-store.ts';
import type { IdempotencyStore } from '@ticketing/store/idempotency/idempotency-store.ts';
import type { IdSequence } from '@ticketing/store/ids/id-sequence.ts';
import type { CursorCodec } from '@ticketing/store/paging/cursor.ts';
import type { PageBudget } from '@ticketing/store/paging/page-budget.ts';
import type { Analyses } from './analysis/client.ts';
import type { AnalysisRequestStore } from './analysis/request-store.ts';
import type { Bulks } from './bulk/run.ts';
import type { BulkStore } from './bulk/store.ts';
import type { ErpConfig } from './config.ts';
import type { CustomerDirectory } from './customer/directory.ts';
import type { EmbeddedErp } from './customer/erp/embedded.ts';
import type { ErpResponseStore } from './customer/erp/response-store.ts';
import type { ErasureDeps } from './erasure/erase.ts';
import type { MailReader } from './inbound-mail/reader.ts';
import type { MessageWriter } from './message/add.ts';
import type { TicketTokens } from './message/rules/ticket-token.ts';
import type { MessageViews } from './message/views.ts';
import type { Mailer } from './outbound-mail/open.ts';
import type { ReadSettings } from './settings.ts';
import type { TicketStores } from './stores.ts';
import type { TagDeps } from './tag/open.ts';
import type { TextWork } from './text/work.ts';
import type { Commit } from './ticket/commit.ts';
import type { TicketWrites } from './ticket/create.ts';
import type { Sessions } from './ticket/sessions.ts';
import type { Templates } from './ticket/template/client.ts';
import type { TemplateFiles } from './ticket/template/copy-files.ts';

/** The stores, settings and process-wide state that the handlers of this service use. */
export interface Context
  extends TicketStores,
    FileContext,
    Pick<TagDeps, 'tags' | 'removeTags'>,
    Pick<ErasureDeps, 'eraseElsewhere' | 'resolveReservation'> {
  profiles: ProfileStore;
  analysisRequests: AnalysisRequestStore;
  analyses: Analyses;
  customers: CustomerDirectory;
  embeddedErp: EmbeddedErp;
  erpResponses: ErpResponseStore;
  erpConfig: ErpConfig;
  bulkStore: BulkStore;
  idempotency: IdempotencyStore;
  pages: PageBudget;
  bulks: Bulks;
  /** Makes clients of the service that has the files of templates. */
  templateFiles: TemplateFiles;
  ticketIds: IdSequence;
  conversationIds: IdSequence;
  tagIds: IdSequence;
  historyEntryIds: IdSequence;
  sessions: Sessions;
  textWork: TextWork;
  json: Pick<LargeJson, 'write'>;
  mailReader: MailReader;
  settings: ReadSettings;
  /** Bounds the searches of each caller: one whose searches are slow must not use all connections to the database. */
  searches: KeyedSlots;
  cursors: CursorCodec;
  attachments: FileContext;
  commit: Commit;
  draft: TicketWrites['draft'];
  insert: TicketWrites['insert'];
  writer: MessageWriter;
  messageViews: MessageViews;
  mailer: Mailer;
  templates: Templates;
  /** The signed tokens in the subjects of mails. */
  ticketTokens: TicketTokens;
  /** Serialises the changes of a ticket in this process. Between processes, the version of the ticket detects conflicts. */
  changeQueue: KeyedQueue<number>;
  /** Unix seconds. */
  now(): number;
  newEventId(): string;
}
