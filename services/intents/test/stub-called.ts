import { type Timestamp, timestampNow } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, type ConnectRouter } from '@connectrpc/connect';
import { RenderingService } from '@ticketing/contracts/ticketing/templates/v1/rendering_service_pb.ts';
import { TemplateService } from '@ticketing/contracts/ticketing/templates/v1/template_service_pb.ts';
import {
  AnalysisService,
  type ApplyAnalysisRequest,
  type RecordExecutionRequest,
} from '@ticketing/contracts/ticketing/tickets/v1/analysis_service_pb.ts';
import {
  ContentType,
  DeliveryStatus,
  type NotSentReason,
} from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { ConversationService } from '@ticketing/contracts/ticketing/tickets/v1/conversation_service_pb.ts';
import {
  AiSupportLevel,
  Channel,
  type SpamStatus,
  TicketStatus,
} from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { SnapshotService } from '@ticketing/contracts/ticketing/tickets/v1/snapshot_service_pb.ts';
import { TagReference } from '@ticketing/contracts/ticketing/tickets/v1/tag_pb.ts';
import { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import {
  AiProcess,
  type TicketChange,
  TicketService,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { type StubServer, startStubServer } from '@ticketing/testkit/stub-server.ts';

/** A ticket of the stub. */
export interface StubTicket {
  id: number;
  version: number;
  subject: string;
  bodyClean: string;
  channel: Channel;
  status: TicketStatus;
  aiSupportLevel: AiSupportLevel;
  process: AiProcess;
  isSpam: boolean;
  tagIds: number[];
  createdAt: Timestamp;
  /** The recipients of a reply. */
  to: string[];
  /** Why a reply is not sent; undefined if it is. */
  notSentReason?: NotSentReason;
  channelId?: string;
  /** The states of its messages as they are now, by id. */
  deliveries?: Record<number, DeliveryStatus>;
  spamStatus?: SpamStatus;
  customerId?: string;
  contractId?: string;
  languageCode?: string;
  /** The time at which the system executes an intent of it. */
  autoExecuteAt?: Timestamp | undefined;
}

/** A reply that the stub has written. */
export interface StubReply {
  ticketId: number;
  key: string;
  caller: string;
  text: string;
  /** The format of the text; undefined for that of a template. */
  type: ContentType | undefined;
  templateId: number | undefined;
  templateData: unknown;
}

/** The data of the stub of the tickets and templates services, and its recorded actions: one for each id or key. */
export interface CalledModel {
  tickets: Map<number, StubTicket>;
  /** Further tickets of which only the id is known. */
  ticketIds: Set<number>;
  /** The tickets of which it was noted that they have sessions. */
  noted: number[];
  tagIds: Set<number>;
  templateIds: Set<number>;
  /** The violations that the tickets service finds in a change of a ticket. */
  violations: { pointer: string; code: string; detail: string }[];
  /** The changes of tickets that were checked. */
  checked: TicketChange[];
  applied: ApplyAnalysisRequest[];
  records: RecordExecutionRequest[];
  replies: StubReply[];
  /** The tickets whose erasure was confirmed. */
  confirmed: number[];
  /** The numbers of calls, of reads of tickets, of sent analyses, and of executions that were to be checked only. */
  calls: number;
  reads: number;
  sent: number;
  validations: number;
  /** Whether every call fails with `unavailable`. */
  isUnavailable: boolean;
  /** Called before an operation on a ticket; an error that it throws is the response. */
  before(operation: StubOperation, ticketId: number, request: object): unknown;
  /** Renders a response template; undefined if the text does not matter. */
  rendered: ((templateId: number) => string) | undefined;
  /** Called before a call is responded to. */
  beforeResponse(): Promise<void>;
}

/** The operations that tests can delay or refuse. */
export type StubOperation = 'read' | 'apply' | 'reply' | 'record' | 'replace' | 'render';

const tagKeyword = 'Abschlag';
const ticketTag = { reference: TagReference.TICKET };
const tags = [
  { id: 5, fullName: 'Abschlag', ...ticketTag, detection: { keywords: [tagKeyword] } },
  { id: 6, fullName: 'Contract', reference: TagReference.CONTRACT, detection: { keywords: [tagKeyword] } },
  { id: 7, fullName: 'Other', ...ticketTag },
];

/** A model in which nothing exists. */
export function emptyModel(): CalledModel {
  return {
    tickets: new Map(),
    ticketIds: new Set(),
    noted: [],
    tagIds: new Set(),
    templateIds: new Set(),
    ...{ violations: [], checked: [], applied: [], records: [], replies: [], confirmed: [] },
    ...{ calls: 0, reads: 0, sent: 0, validations: 0, isUnavailable: false },
    before: () => undefined,
    rendered: undefined,
    beforeResponse: async () => undefined,
  };
}

/** An open e-mail about an instalment, from a person who is not known. */
export function stubTicket(id: number, changes: Partial<StubTicket> = {}): StubTicket {
  return {
    id,
    version: 1,
    subject: 'Mein Abschlag',
    bodyClean: 'Guten Tag, mein Abschlag ist viel zu hoch. Bitte senken Sie ihn. Ich bin sehr verärgert.',
    channel: Channel.EMAIL,
    status: TicketStatus.OPEN,
    aiSupportLevel: AiSupportLevel.UNPROCESSED,
    process: AiProcess.BATCH,
    isSpam: false,
    createdAt: timestampNow(),
    tagIds: [],
    to: ['kim@example.org'],
    ...changes,
  };
}

/**
 * Serves a model over gRPC, as the parts of the tickets and templates services that the intents service calls. The
 * settings service is unavailable, unless `serveMore` serves it.
 */
export function serveCalled(model: CalledModel, serveMore?: (router: ConnectRouter) => void): Promise<StubServer> {
  return startStubServer((router) => {
    serveMore?.(router);
    serveReferences(router, model);
    serveTickets(router, model);
    serveResults(router, model);
    serveMessages(router, model);
  });
}

/** Responds to a call. */
async function respond<Response>(model: CalledModel, response: () => Response | Promise<Response>): Promise<Response> {
  model.calls += 1;
  if (model.isUnavailable) throw new ConnectError('unavailable', Code.Unavailable);
  const made = await response();
  await model.beforeResponse();
  return made;
}

function found(ids: ReadonlySet<number>, id: number) {
  if (!ids.has(id)) throw new ConnectError('not found', Code.NotFound);
  return { id };
}

function find(model: CalledModel, id: number): StubTicket {
  const ticket = model.tickets.get(id);
  if (!ticket) throw new ConnectError('Ticket not found', Code.NotFound);
  return ticket;
}

/** Serves the objects that AI agents name. */
function serveReferences(router: ConnectRouter, model: CalledModel): void {
  router.service(TagService, {
    getTag: ({ id }) => respond(model, () => ({ tag: found(model.tagIds, id) })),
    listTags: () => respond(model, () => ({ tags })),
  });
  router.service(TemplateService, {
    getTemplate: ({ id }) => respond(model, () => ({ template: found(model.templateIds, id) })),
  });
  router.service(TicketService, {
    checkTicketChange: ({ change }) =>
      respond(model, () => {
        if (change) model.checked.push(change);
        return { violations: model.violations };
      }),
    getTemplateVariables: ({ ticketId }) =>
      respond(model, () => ({ variables: Buffer.from(JSON.stringify({ ticket: { id: ticketId }, in: null })) })),
  });
}

function serveTickets(router: ConnectRouter, model: CalledModel): void {
  router.service(SnapshotService, {
    getTicketSnapshots: ({ ticketIds }) =>
      respond(model, async () => {
        const snapshots = await Promise.all(ticketIds.map((id) => readSnapshot(model, id)));
        return { snapshots: snapshots.flatMap((one) => one ?? []) };
      }),
    confirmErasure: ({ ticketId }) =>
      respond(model, () => {
        model.confirmed.push(ticketId);
        return {};
      }),
  });
}

async function readSnapshot(model: CalledModel, id: number) {
  model.reads += 1;
  await model.before('read', id, {});
  const stored = model.tickets.get(id);
  if (!stored) return undefined;
  const { isSpam, process, to, notSentReason, deliveries, ...ticket } = stored;
  const replyNotSent = toReplyNotSent(notSentReason);
  const intents = Object.entries(deliveries ?? {}).map(([conversationId, deliveryStatus]) => ({
    outcome: { conversationId: Number(conversationId), deliveryStatus },
  }));
  const shown = { ...ticket, intents, replyRecipients: { to } };
  return { ticket: shown, isSpam, process, ...replyNotSent };
}

async function applyOne(model: CalledModel, request: ApplyAnalysisRequest): Promise<{ version: number }> {
  model.sent += 1;
  await model.before('apply', request.ticketId, request);
  const ticket = find(model, request.ticketId);
  if (!model.applied.some(({ analysisId }) => analysisId === request.analysisId)) {
    model.applied.push(request);
    ticket.version += 1;
    if (request.intents) ticket.aiSupportLevel = request.intents.aiSupportLevel;
  }
  return { version: ticket.version };
}

/** Serves the RPCs by which the tickets service stores analyses and executions. */
function serveResults(router: ConnectRouter, model: CalledModel): void {
  router.service(AnalysisService, {
    applyAnalyses: ({ analyses }) =>
      respond(model, async () => {
        const outcomes = analyses.map((one) =>
          applyOne(model, one).catch((error: unknown) => {
            // A service that is unavailable names no outcomes.
            if (!(error instanceof ConnectError) || error.code === Code.Unavailable) throw error;
            return { code: error.code, reason: error.rawMessage };
          }),
        );
        return { analyses: await Promise.all(outcomes) };
      }),
    recordExecution: (request) =>
      respond(model, async () => {
        const ticket = find(model, request.ticketId);
        await model.before('record', request.ticketId, request);
        if (request.validateOnly) {
          model.validations += 1;
          return { version: 0 };
        }
        if (!model.records.some(({ executionId }) => executionId === request.executionId)) {
          model.records.push(request);
          ticket.version += 1;
          ticket.autoExecuteAt = request.autoExecuteAt;
          if (request.close) ticket.status = TicketStatus.CLOSED;
        }
        return { version: ticket.version };
      }),
    noteSessions: ({ ticketIds }) =>
      respond(model, () => {
        const exist = new Set([...model.ticketIds, ...model.tickets.keys()]);
        model.noted.push(...ticketIds);
        return { ticketIds: ticketIds.filter((id) => exist.has(id)) };
      }),
    replaceAutoExecution: (request) =>
      respond(model, async () => {
        const ticket = find(model, request.ticketId);
        await model.before('replace', request.ticketId, request);
        if (ticket.autoExecuteAt?.seconds === request.replaced?.seconds) ticket.autoExecuteAt = request.autoExecuteAt;
        return {};
      }),
  });
}

const toReplyNotSent = (replyNotSent: NotSentReason | undefined) =>
  replyNotSent === undefined ? {} : { replyNotSent };

/** Messages to customers. */
function serveMessages(router: ConnectRouter, model: CalledModel): void {
  router.service(ConversationService, {
    replyToTicket: ({ ticketId, content, templateId, templateData }, { requestHeader }) =>
      respond(model, async () => {
        await model.before('reply', ticketId, {});
        const { to, notSentReason } = find(model, ticketId);
        const key = requestHeader.get('idempotency-key') ?? '';
        const caller = readCaller(requestHeader.get('authorization') ?? '');
        const ofTemplate =
          templateId === undefined ? undefined : (model.rendered?.(templateId) ?? `<p>template ${templateId}</p>`);
        const text = ofTemplate ?? content?.message ?? '';
        if (!model.replies.some((one) => one.key === key)) {
          const type = content?.type;
          model.replies.push({ ticketId, key, caller, text, type, templateId, templateData });
        }
        const sending =
          notSentReason === undefined
            ? { deliveryStatus: DeliveryStatus.QUEUED }
            : { deliveryStatus: DeliveryStatus.NONE, notSentReason };
        const type = ofTemplate === undefined ? (content?.type ?? ContentType.TEXT) : ContentType.HTML;
        const conversation = { id: 31, to, body: text, type, ...sending };
        return { success: true, id: 31, conversation };
      }),
  });
  router.service(RenderingService, {
    renderTemplate: ({ templateId, variables }) =>
      respond(model, async () => {
        const { ticket, in: data } = JSON.parse(Buffer.from(variables).toString('utf8'));
        await model.before('render', ticket.id, { templateId });
        return { message: model.rendered?.(templateId) ?? `<p>template ${templateId} ${JSON.stringify(data)}</p>` };
      }),
  });
}

/** The profile or service in whose name an internal token was minted. */
function readCaller(authorization: string): string {
  const [, claims = ''] = authorization.split('.');
  const { iss, caller } = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8'));
  return caller ? `profile ${caller.profileId}` : `service ${iss}`;
}
