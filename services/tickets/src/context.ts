import type { Client } from '@connectrpc/connect';
import type { TemplateService } from '@ticketing/contracts/ticketing/templates/v1/template_service_pb.ts';
import type { UpdateTicketsRequest } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import type { FileContext } from '@ticketing/files/file-context.ts';
import type { LargeJson } from '@ticketing/rest/limits/large-json.ts';
import type { KeyedQueue } from '@ticketing/runtime/keyed-queue.ts';
import type { KeyedSlots } from '@ticketing/runtime/keyed-slots.ts';
import type { WakefulLoop } from '@ticketing/runtime/wakeful-loop.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import type { SettingsAge } from '@ticketing/service-kit/settings/configuration-copy.ts';
import type { ProfileStore } from '@ticketing/store/cache/profile-store.ts';
import type { IdempotencyStore, ResponseSubject } from '@ticketing/store/idempotency/idempotency-store.ts';
import type { IdSequence } from '@ticketing/store/ids/id-sequence.ts';
import type { CursorCodec } from '@ticketing/store/paging/cursor.ts';
import type { PageBudget } from '@ticketing/store/paging/page-budget.ts';
import type { Analyses } from './analysis/client.ts';
import type { AnalysisRequestStore } from './analysis/request-store.ts';
import type { BulkStore } from './bulk/store.ts';
import type { ErpConfig } from './config.ts';
import type { CustomerDirectory } from './customer/directory.ts';
import type { EmbeddedErp } from './customer/erp/embedded.ts';
import type { ErpResponseStore } from './customer/erp/response-store.ts';
import type { ErasureDeps } from './erasure/erase.ts';
import type { MailReader } from './inbound-mail/reader.ts';
import type { TicketTokens } from './message/rules/ticket-token.ts';
import type { TextWork } from './message/text/work.ts';
import type { TicketSettings } from './settings.ts';
import type { TicketStores } from './stores.ts';
import type { TagDeps } from './tag/open.ts';
import type { Commit } from './ticket/commit.ts';
import type { Sessions } from './ticket/sessions.ts';
import type { Templates } from './ticket/template/client.ts';

/** The stores, settings and process-wide state that the handlers of this service use. */
export interface Context
  extends TicketStores,
    FileContext,
    Pick<TagDeps, 'tags' | 'removeTags'>,
    Pick<ErasureDeps, 'eraseElsewhere' | 'resolveReservation'> {
  attachments: FileContext;
  commit: Commit;
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
  templateFiles(call: OnBehalfOf): Client<typeof TemplateService>;
  ticketIds: IdSequence;
  conversationIds: IdSequence;
  tagIds: IdSequence;
  historyEntryIds: IdSequence;
  sessions: Sessions;
  textWork: TextWork;
  json: Pick<LargeJson, 'write'>;
  mailReader: MailReader;
  settings(age?: SettingsAge): Promise<TicketSettings>;
  /** Bounds the searches of each caller: one whose searches are slow must not use all connections to the database. */
  searches: KeyedSlots;
  cursors: CursorCodec;
  /** The mailer of this process; undefined until it is started, and in processes without its role. */
  mailer: Pick<WakefulLoop, 'wake'> | undefined;
  templates: Templates;
  /** The signed tokens in the subjects of mails. */
  ticketTokens: TicketTokens;
  /** Serialises the changes of a ticket in this process. Between processes, the version of the ticket detects conflicts. */
  changeQueue: KeyedQueue<number>;
  /** Unix seconds. */
  now(): number;
  newEventId(): string;
}

/** Refers to a ticket as the subject of a stored response, which may not be sent again after the ticket is deleted. */
export const ticketSubject = (id: number): ResponseSubject => ({ kind: 'Ticket', id });

/** The caller and the trace of the request for a bulk. */
export type BulkCall = Pick<Call, 'caller' | 'trace'>;

/** Applies bulks, including those of processes that have died. */
export interface Bulks {
  /**
   * Records a validated bulk, reserves its tickets if it expects versions, and applies it. An id that is already recorded
   * belongs to a repeated request, whose bulk is completed.
   *
   * Errors: stale_version; concurrent_change, if another process has cancelled the bulk. Nothing is applied then.
   */
  run(id: string, request: UpdateTicketsRequest, call: BulkCall): Promise<void>;
  /**
   * Called when the ticket is reserved by a bulk: releases the reservation if the bulk has ended, finishes the bulk if its
   * process has died, and waits a moment otherwise. The caller then tries again.
   */
  resolveReservation(id: string, ticketId: number): Promise<void>;
  /** Finishes the bulks whose processes have died. */
  finishAbandoned(): Promise<void>;
}
