import { AnalysisService } from '@ticketing/contracts/ticketing/intents/v1/analysis_service_pb.ts';
import { SessionService } from '@ticketing/contracts/ticketing/intents/v1/session_service_pb.ts';
import { ConfigurationService } from '@ticketing/contracts/ticketing/settings/v1/configuration_service_pb.ts';
import { RenderingService } from '@ticketing/contracts/ticketing/templates/v1/rendering_service_pb.ts';
import { TemplateService } from '@ticketing/contracts/ticketing/templates/v1/template_service_pb.ts';
import { fileContext } from '@ticketing/files/file-context.ts';
import { eraseFiles } from '@ticketing/files/sweep-files.ts';
import { keyedQueue } from '@ticketing/runtime/keyed-queue.ts';
import { keyedSlots } from '@ticketing/runtime/keyed-slots.ts';
import { type Runtime, secondsNow } from '@ticketing/runtime/runtime.ts';
import { timeOrderedId } from '@ticketing/runtime/time-ordered-id.ts';
import type { Kit } from '@ticketing/service-kit/lifecycle/kit.ts';
import { profileStore } from '@ticketing/store/cache/profile-store.ts';
import { idSequence } from '@ticketing/store/ids/id-sequence.ts';
import { cursorCodecOf } from '@ticketing/store/paging/cursor.ts';
import { derivedKey } from '@ticketing/store/paging/derived-key.ts';
import { analysisTimeoutMs, openAnalyses } from './analysis/client.ts';
import { analysisRequestStore } from './analysis/request-store.ts';
import { openBulks } from './bulk/run.ts';
import { bulkStore } from './bulk/store.ts';
import type { TicketsConfig } from './config.ts';
import { type Context, ticketSubject } from './context.ts';
import { openCustomerDirectory } from './customer/directory.ts';
import { embeddedErp } from './customer/erp/embedded.ts';
import { customerStore } from './customer/erp/embedded-store.ts';
import { openErp } from './customer/erp/open.ts';
import { erpResponseStore } from './customer/erp/response-store.ts';
import { openMailReader } from './inbound-mail/reader.ts';
import { ticketTokens } from './message/rules/ticket-token.ts';
import { openTextWork } from './message/text/work.ts';
import type { TicketSettings } from './settings.ts';
import { openTicketStores } from './stores.ts';
import { tagStore } from './tag/store.ts';
import { removeTags } from './ticket/remove-tags.ts';
import { maxSessionBytes, openSessions, sessionsTimeoutMs } from './ticket/sessions.ts';
import type { TicketStore } from './ticket/store/store.ts';
import { maxRenderedBytes, openTemplates, renderTimeoutMs } from './ticket/template/client.ts';
import { writeTicket } from './ticket/write.ts';

/** The parts of the kit from which the context is made. */
export interface ContextParts
  extends Pick<
    Kit<TicketsConfig, TicketSettings>,
    'idempotency' | 'json' | 'log' | 'onClose' | 'openClient' | 'outbound' | 'pages' | 'settings' | 'wakeRelay'
  > {
  config: Pick<Kit<TicketsConfig, TicketSettings>['config'], 'signingKeyFile' | 'erp'>;
  database: Pick<Kit<TicketsConfig, TicketSettings>['database'], 'connection'>;
  runtime: Runtime;
}

const searchesPerCaller = 8;
const secretsTimeoutMs = 2_000;
/** The files of a template have at most 25 MiB. */
const templateFilesTimeoutMs = 20_000;

/** Opens the stores on the database of a kit, and makes the context from them. */
export function openContext(parts: ContextParts): Context {
  const { config, database, idempotency, json, log, outbound, pages, settings, wakeRelay, runtime } = parts;
  const { connection } = database;
  const textWork = openTextWork(log);
  parts.onClose(() => textWork.close());
  const mailReader = openMailReader(log);
  parts.onClose(() => mailReader.close());
  const attachments = fileContext(connection, { outbound, runtime, settings });
  const stores = openTicketStores(connection, wakeRelay, textWork.words);
  const context = {
    ...stores,
    tags: tagStore(connection, wakeRelay, runtime),
    profiles: profileStore(connection),
    analysisRequests: analysisRequestStore(connection),
    ...openCustomers(parts, stores.tickets),
    bulkStore: bulkStore(connection),
    ...attachments,
    attachments,
    templateFiles: parts.openClient('templates', TemplateService, { timeoutMs: templateFilesTimeoutMs }),
    idempotency,
    pages,
    json,
    textWork,
    mailReader,
    ticketIds: idSequence(connection, 'ticket'),
    conversationIds: idSequence(connection, 'conversation'),
    tagIds: idSequence(connection, 'tag'),
    historyEntryIds: idSequence(connection, 'historyEntry'),
    settings,
    cursors: cursorCodecOf(config.signingKeyFile),
    mailer: undefined,
    ...openCalledServices(parts),
    ticketTokens: ticketTokens(derivedKey(config.signingKeyFile, 'ticket token')),
    searches: keyedSlots(searchesPerCaller),
    changeQueue: keyedQueue<number>(),
    now: () => secondsNow(runtime),
    newEventId: () => timeOrderedId('evt', runtime),
  };
  return withFeatures(context);
}

type FeatureParts = 'bulks' | 'commit' | 'removeTags' | 'eraseElsewhere' | 'resolveReservation';

/** Adds what some features offer to others. */
function withFeatures(parts: Omit<Context, FeatureParts>): Context {
  const context: Context = {
    ...parts,
    bulks: openBulks({ ...parts, ...features() }),
    ...features(),
  };
  function features(): Omit<Pick<Context, FeatureParts>, 'bulks'> {
    return {
      commit: ({ ticketId, decide, requestId }) =>
        writeTicket(context, ticketId, (stored) => decide(stored, {}), { requestId }),
      removeTags: (tags, signal) => removeTags(context, tags, signal),
      eraseElsewhere: eraseSteps(parts),
      resolveReservation: (bulkId, ticketId) => context.bulks.resolveReservation(bulkId, ticketId),
    };
  }
  return context;
}

/** What is stored of a ticket outside of its document, in the order in which a deletion erases it. */
function eraseSteps(
  stores: Pick<
    Context,
    | 'externalIds'
    | 'externalMessageIds'
    | 'conversations'
    | 'analysisRequests'
    | 'erpResponses'
    | 'idempotency'
    | 'attachments'
  >,
): Context['eraseElsewhere'] {
  return [
    (id) => stores.externalIds.free(id),
    (id) => stores.externalMessageIds.free(id),
    (id) => stores.conversations.removeOf(id),
    (id) => stores.analysisRequests.removeOf(id),
    (id) => stores.erpResponses.eraseOf(id),
    (id) => stores.idempotency.eraseAbout(ticketSubject(id)),
    (id) => eraseFiles(stores.attachments, id),
  ];
}

/** The parts of a context that call services for what a ticket shows, and for its analysis. */
function openCalledServices({
  openClient,
}: Pick<ContextParts, 'openClient'>): Pick<Context, 'analyses' | 'sessions' | 'templates'> {
  const sessionOptions = { timeoutMs: sessionsTimeoutMs, maxResponseBytes: maxSessionBytes };
  const renderOptions = { timeoutMs: renderTimeoutMs, maxResponseBytes: maxRenderedBytes };
  return {
    analyses: openAnalyses(openClient('intents', AnalysisService, { timeoutMs: analysisTimeoutMs })),
    sessions: openSessions(openClient('intents', SessionService, sessionOptions)),
    templates: openTemplates(openClient('templates', RenderingService, renderOptions)),
  };
}

/** The parts of a context that concern customers. */
function openCustomers(
  parts: ContextParts,
  tickets: Pick<TicketStore, 'isDeleted'>,
): Pick<Context, 'customers' | 'embeddedErp' | 'erpResponses' | 'erpConfig'> {
  const { config, database, log, outbound, runtime, settings } = parts;
  const embedded = embeddedErp(customerStore(database.connection));
  const responses = erpResponseStore(database.connection, tickets.isDeleted);
  const secrets = parts.openClient('settings', ConfigurationService, { timeoutMs: secretsTimeoutMs });
  const erp = openErp({ settings, secrets, outbound, embedded, log, ...config.erp });
  const customers = openCustomerDirectory({ erp, responses, runtime, log, ...config.erp });
  return { customers, embeddedErp: embedded, erpResponses: responses, erpConfig: config.erp };
}
