import { AnalysisService } from '@ticketing/contracts/ticketing/intents/v1/analysis_service_pb.ts';
import { SessionService } from '@ticketing/contracts/ticketing/intents/v1/session_service_pb.ts';
import { ConfigurationService } from '@ticketing/contracts/ticketing/settings/v1/configuration_service_pb.ts';
import { RenderingService } from '@ticketing/contracts/ticketing/templates/v1/rendering_service_pb.ts';
import { TemplateService } from '@ticketing/contracts/ticketing/templates/v1/template_service_pb.ts';
import { fileContext } from '@ticketing/files/file-context.ts';
import { eraseFiles } from '@ticketing/files/sweep-files.ts';
import { bind } from '@ticketing/rest/routes/rest-api.ts';
import { keyedQueue } from '@ticketing/runtime/keyed-queue.ts';
import { keyedSlots } from '@ticketing/runtime/keyed-slots.ts';
import { type Runtime, secondsNow } from '@ticketing/runtime/runtime.ts';
import type { Kit } from '@ticketing/service-kit/lifecycle/kit.ts';
import { profileStore } from '@ticketing/store/cache/profile-store.ts';
import { idSequence } from '@ticketing/store/ids/id-sequence.ts';
import { openCursorCodec } from '@ticketing/store/paging/cursor.ts';
import { derivedKey } from '@ticketing/store/paging/derived-key.ts';
import { applyAnalyses, applyAnalysis, recordExecution, replaceAutoExecution } from './analysis/apply.ts';
import { analysisRequestStore, firstAnalysis } from './analysis/request-store.ts';
import { analysisTimeoutMs, openAnalyses } from './analysis/requests.ts';
import { type AttachmentDeps, deleteAttachment, findTicketFiles, getAttachment } from './attachment/attachments.ts';
import { createTickets } from './bulk/create.ts';
import { creationStore } from './bulk/creation-store.ts';
import { openCreations } from './bulk/creations.ts';
import { bulkStore } from './bulk/store.ts';
import { openBulks, updateTickets } from './bulk/update.ts';
import type { TicketsConfig } from './config.ts';
import { openCustomerDirectory } from './customer/directory.ts';
import { embeddedErp } from './customer/erp/embedded.ts';
import { customerStore } from './customer/erp/embedded-store.ts';
import { openErp } from './customer/erp/open.ts';
import { erpResponseStore } from './customer/erp/response-store.ts';
import { importCustomers } from './customer/import.ts';
import { searchCustomers } from './customer/search.ts';
import { confirmErasure, deleteTicket, type ErasureDeps } from './erasure/erase.ts';
import { getTicketHistory } from './history/get.ts';
import { recordHistoryEntry } from './history/record-entry.ts';
import { getRawMail, type RawMailDeps } from './inbound-mail/raw-mail.ts';
import { readMailAgain } from './inbound-mail/read-again.ts';
import { openMailReader } from './inbound-mail/reader.ts';
import { receiveMail } from './inbound-mail/receive.ts';
import type { InboundMailDeps } from './inbound-mail/to-ticket.ts';
import { messageWriter } from './message/add.ts';
import { deleteConversation } from './message/delete.ts';
import type { MessageReference } from './message/external-id-store.ts';
import { getConversation, listConversations } from './message/read.ts';
import { replyToTicket, storeConversation } from './message/reply.ts';
import { returnAddresses, ticketTokens } from './message/rules/outgoing-mail.ts';
import { openMail } from './message/sender.ts';
import { discardMessages } from './message/unseen.ts';
import { updateConversation } from './message/update.ts';
import { messageViews } from './message/views.ts';
import { type MessageWordsDeps, refreshWords } from './message/words.ts';
import { failureStore } from './outbound-mail/failure-store.ts';
import { noteFailure } from './outbound-mail/note-failure.ts';
import { measureReports, openMailer } from './outbound-mail/open.ts';
import { resendConversation } from './outbound-mail/resend.ts';
import { beginToShow, type ShowDeps, tryToShow } from './outbound-mail/show-delivery.ts';
import { type TakeReportDeps, takeReport } from './outbound-mail/take-report.ts';
import { getLatestTickets } from './queue/get-latest.ts';
import { scheduledTasks } from './scheduled-tasks.ts';
import type { TicketSettings } from './settings.ts';
import { openTicketStores } from './stores.ts';
import { tagStore } from './tag/store.ts';
import { createTag, deleteTag, getTag, listTags, type TagDeps, updateTag } from './tag/tags.ts';
import { openTextWork } from './text/work.ts';
import { checkTicketChange } from './ticket/checks.ts';
import { type Commit, commitChange } from './ticket/commit.ts';
import { createTicket, type TicketWrites } from './ticket/create.ts';
import { type BesideTicket, getTicket } from './ticket/get.ts';
import { getTicketSnapshots, listTicketVersions } from './ticket/get-snapshots.ts';
import { draftTicket, insertTicket } from './ticket/insert.ts';
import { customerReader } from './ticket/refresh-customer.ts';
import { queueKeys } from './ticket/rules/queue-keys.ts';
import { searchTickets } from './ticket/search.ts';
import { maxSessionBytes, noteSessions, openSessions, sessionsTimeoutMs } from './ticket/sessions.ts';
import { ticketSubject } from './ticket/store/document.ts';
import { removeTags } from './ticket/system-changes.ts';
import { maxRenderedBytes, openTemplates, renderTimeoutMs } from './ticket/template/client.ts';
import { templateTexts } from './ticket/template/text.ts';
import { getTemplateVariables, getTicketVariables } from './ticket/template/variables.ts';
import { updateTicket } from './ticket/update.ts';
import { ticketViews } from './ticket/views.ts';

/** The parts of the kit from which the features are made. */
export interface FeatureParts
  extends Pick<
    Kit<TicketsConfig, TicketSettings>,
    'idempotency' | 'json' | 'log' | 'onClose' | 'openClient' | 'outbound' | 'pages' | 'settings' | 'wakeRelay'
  > {
  config: Pick<Kit<TicketsConfig, TicketSettings>['config'], 'signingKeyFile' | 'erp' | 'mail'>;
  database: Pick<Kit<TicketsConfig, TicketSettings>['database'], 'connection' | 'opened'>;
  metrics: Pick<Kit<TicketsConfig, TicketSettings>['metrics'], 'registry'>;
  runtime: Runtime;
}

const searchesPerCaller = 8;
const bulkCreationsPerCaller = 2;
const secretsTimeoutMs = 2_000;
/** The files of a template have at most 25 MiB. */
const templateFilesTimeoutMs = 20_000;

/** Opens all features: makes each from its dependencies, and binds its handlers to them. */
export function openFeatures(parts: FeatureParts) {
  const { config, database, idempotency, json, log, outbound, pages, settings, wakeRelay, runtime } = parts;
  const { connection } = database;
  const textWork = openTextWork(log);
  parts.onClose(() => textWork.close());
  const mailReader = openMailReader(log);
  parts.onClose(() => mailReader.close());
  const stores = openTicketStores(connection, wakeRelay, textWork.words);
  const { tickets } = stores;
  const tags = tagStore(connection, wakeRelay, runtime);
  const profiles = profileStore(connection);
  const attachments = fileContext(connection, { outbound, runtime, settings });
  const searches = keyedSlots(searchesPerCaller);
  const tokens = ticketTokens(derivedKey(config.signingKeyFile, 'ticket token'));
  // Called after all is open.
  const showDelivery = (message: MessageReference) => tryToShow(deliveries, log, message);
  const signedAddresses = returnAddresses(derivedKey(config.signingKeyFile, 'return address'));
  const mailer = openMailer(
    {
      ...stores,
      returnAddresses: signedAddresses,
      showDelivery,
      files: attachments.files,
      findFiles: (ticketId) => findTicketFiles(stores, ticketId),
      toText: (html, plain) => textWork.mailText(html, plain, { profileId: null, kind: 'service', service: 'mailer' }),
      ticketTokens: tokens,
      settings,
    },
    parts,
  );
  const { customers, embedded, responses } = openCustomers(parts, tickets);
  const { analyses, sessions, templates, templateFiles } = openCalledServices(parts);

  const analysisRequests = analysisRequestStore(connection);
  const requestAnalyses = (requests: readonly { ticketId: number; mode: string }[]) =>
    analysisRequests.add(requests, new Date(secondsNow(runtime) * 1000));

  const changeQueue = keyedQueue<number>();
  const writes = { tickets, settings, changeQueue, runtime };
  const bulksStored = bulkStore(connection);
  const bulks = openBulks({
    ...{ store: bulksStored, reservations: stores.reservations, tags, settings, customers, writes },
  });
  const { resolveReservation } = bulks;
  const commit: Commit = (plan) => commitChange({ ...writes, resolveReservation }, plan);

  const conversationIds = idSequence(connection, 'conversation');
  const { conversations, externalMessageIds } = stores;
  const messages = { conversations, externalMessageIds, conversationIds };
  const drafts = { settings, tags, customers, conversationIds, runtime };
  const inserts = {
    ...{ tickets, attachments, mailQueue: mailer, runtime },
    ...bind({ messages }, { discardMessages }),
    ...bind({ messages, tickets, settings, runtime }, { openMail }),
  };
  const ids = {
    sequence: idSequence(connection, 'ticket'),
    external: stores.externalIds,
    isVoid: stores.closedIds.isVoid,
  };
  const { draft, insert } = { ...bind(drafts, { draft: draftTicket }), ...bind(inserts, { insert: insertTicket }) };
  const ticketWrites: TicketWrites = { tickets, ids, customers, draft, insert, commit, runtime };

  const readCustomer = customerReader({ customers, customerCopies: stores.customerCopies, runtime });
  const views = ticketViews({ tickets, tags, profiles, settings, textWork, readCustomer, pages, runtime });
  const texts = templateTexts({ customers, views, json, templates, templateFiles, attachments, settings });
  const refresh = { customers, commit, runtime };
  const beside: BesideTicket = {
    templates,
    sessions,
    neighbours: ({ routingOrder: order, spamDetectionTagId: spamTagId }, ticket) =>
      stores.neighbours.find({ order, spamTagId }, { id: ticket.id, key: queueKeys(ticket)[order] }),
  };
  const lists = { pages: stores.ticketLists, totals: stores.ticketCounts };
  const cursors = openCursorCodec(config.signingKeyFile);

  const writer = messageWriter({
    ...{ messages, tickets, commit, attachments, textWork, customers, settings, mailQueue: mailer, runtime },
  });
  const viewsOfMessages = messageViews({ tickets, conversations, profiles, settings, textWork, pages });
  const requested = { writer, templates: texts, tags, attachments, tickets, settings, views: viewsOfMessages, runtime };

  const newTickets = { tags, settings, textWork, attachments, writes: ticketWrites };
  const creationsStored = creationStore(connection, runtime);
  const creations = openCreations({ ...newTickets, store: creationsStored, writer });

  const words: MessageWordsDeps = { tickets, conversations, textWork, runtime, log };
  const refreshing = bind(words, { refreshWords });
  const deliveries: ShowDeps = {
    tickets,
    conversations,
    ...bind({ writer, conversationIds, settings }, { noteFailure }),
  };
  const takingReports: TakeReportDeps = {
    ...{ tickets, externalMessageIds, log, showDelivery },
    ...{ failures: failureStore(connection), count: measureReports(parts.metrics.registry) },
  };

  const tag: TagDeps = {
    ...{ tags, runtime, tagIds: idSequence(connection, 'tag') },
    ...bind({ tickets, commit, runtime }, { removeTags }),
  };
  const erasure: ErasureDeps = {
    ...{ tickets, erasures: stores.erasures, resolveReservation, runtime },
    eraseElsewhere: [
      stores.externalIds.free,
      externalMessageIds.free,
      conversations.removeByTicket,
      analysisRequests.removeByTicket,
      responses.eraseByTicket,
      (id) => idempotency.eraseAbout(ticketSubject(id)),
      (id) => eraseFiles(attachments, id),
    ],
  };
  const attachment: AttachmentDeps = { tickets, conversations, commit, attachments };
  const inboundMail: InboundMailDeps = {
    ...{ mailReader, settings, ticketTokens: tokens, returnAddresses: signedAddresses },
    ...{ tickets, messages, writer, attachments },
    ...bind(takingReports, { takeReport }),
    newTickets: { ids: ids.sequence, textWork, draft, insert },
  };
  const rawMail: RawMailDeps = { tickets, conversations, settings, attachments };
  const tasks = scheduledTasks({
    reopening: { tickets, commit, runtime },
    bulk: { bulks, store: bulksStored, creations, creationStore: creationsStored },
    requests: { analysisRequests, analyses, tickets, settings, refresh },
    message: { tickets, messages },
    ...{ erasure, tag, attachment, rawMail, words, deliveries },
    stores: {
      ...{ closedIds: stores.closedIds, customerCopies: stores.customerCopies },
      trimErpResponses: () => responses.trim(new Date(runtime.now()), config.erp.maxResponses),
    },
  });

  return {
    ...{ stores, tags, profiles, textWork, ticketTokens: tokens, attachments, removeTags: tag.removeTags },
    ...{ tasks, mailer, inboundMail },
    ticket: {
      ...bind(
        {
          ...newTickets,
          ...{ templates: texts, views },
          analyse: analyses.now,
        },
        { createTicket },
      ),
      ...bind(
        { ...newTickets, creations, conversationIds, slots: keyedSlots(bulkCreationsPerCaller) },
        { createTickets },
      ),
      ...bind(
        {
          ...{ tickets, tags, settings, refresh, views, beside },
          requestAnalysis: (ticketId: number) => requestAnalyses([{ ticketId, mode: firstAnalysis }]),
        },
        { getTicket },
      ),
      ...bind({ tags, settings, searches, cursors, pages, lists, views, runtime }, { searchTickets }),
      ...bind({ tags, settings, customers, commit, views, runtime }, { updateTicket }),
      ...bind({ tickets, tags, settings, bulks, requestAnalyses, runtime }, { updateTickets }),
      ...bind({ tags, settings }, { checkTicketChange }),
      ...bind({ customers, views, json, tickets, tags }, { getTicketVariables, getTemplateVariables }),
      ...bind({ queue: stores.queue, tags, settings, runtime }, { getLatestTickets }),
      ...bind(erasure, { deleteTicket }),
      ...bind({ history: stores.history, pages, searches }, { getTicketHistory }),
    },
    snapshot: {
      ...bind({ tickets, tags, settings, pages, views }, { getTicketSnapshots, listTicketVersions }),
      ...bind(erasure, { confirmErasure }),
    },
    conversation: {
      ...bind({ tickets, conversations, views: viewsOfMessages, pages }, { listConversations, getConversation }),
      ...bind(requested, { replyToTicket, storeConversation }),
      ...bind(
        { messages, tickets, settings, commit, mailQueue: mailer, runtime, attachments, textWork, ...refreshing },
        { updateConversation },
      ),
      ...bind({ messages, tickets, commit, attachments, runtime, ...refreshing }, { deleteConversation }),
      ...bind(
        { tickets, conversations, views: viewsOfMessages, deliveries, mailQueue: mailer, runtime },
        { resendConversation },
      ),
    },
    customer: {
      ...bind({ customers, tags, searches, pages }, { searchCustomers }),
      ...bind({ tags, embeddedErp: embedded }, { importCustomers }),
    },
    analysis: bind(
      { tickets, tags, settings, customers, commit, pages, runtime, ...bind(deliveries, { beginToShow }) },
      { applyAnalyses, applyAnalysis, noteSessions, recordExecution, replaceAutoExecution },
    ),
    attachment: bind(attachment, { getAttachment, deleteAttachment }),
    mail: {
      ...bind(inboundMail, { receiveMail }),
      ...bind(rawMail, { getRawMail }),
      ...bind({ ...rawMail, tickets, mailReader, textWork, commit, ...refreshing }, { readMailAgain }),
    },
    history: bind(
      { history: stores.history, historyEntryIds: idSequence(connection, 'historyEntry'), runtime },
      { recordHistoryEntry },
    ),
    tag: bind(tag, { createTag, getTag, listTags, updateTag, deleteTag }),
  };
}

function openCalledServices({ openClient }: Pick<FeatureParts, 'openClient'>) {
  const sessionOptions = { timeoutMs: sessionsTimeoutMs, maxResponseBytes: maxSessionBytes };
  const renderOptions = { timeoutMs: renderTimeoutMs, maxResponseBytes: maxRenderedBytes };
  return {
    analyses: openAnalyses(openClient('intents', AnalysisService, { timeoutMs: analysisTimeoutMs })),
    sessions: openSessions(openClient('intents', SessionService, sessionOptions)),
    templates: openTemplates(openClient('templates', RenderingService, renderOptions)),
    templateFiles: openClient('templates', TemplateService, { timeoutMs: templateFilesTimeoutMs }),
  };
}

function openCustomers(parts: FeatureParts, { isDeleted }: { isDeleted(ticketId: number): Promise<boolean> }) {
  const { config, database, log, outbound, runtime, settings } = parts;
  const country = async () => (await settings()).defaultCountry;
  const embedded = embeddedErp(customerStore(database.connection), country);
  const responses = erpResponseStore(database.connection, isDeleted);
  const secrets = parts.openClient('settings', ConfigurationService, { timeoutMs: secretsTimeoutMs });
  const erp = openErp({ settings, secrets, outbound, embedded, log, ...config.erp });
  const customers = openCustomerDirectory({ erp, country, responses, runtime, log, ...config.erp });
  return { customers, embedded, responses };
}
