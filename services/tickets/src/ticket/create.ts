import { Channel, Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import {
  AiProcess,
  type CreateTicketRequest,
  CreateTicketRequestSchema,
  type CreateTicketResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { DomainError, invalidInput, notFound, type Violation } from '@ticketing/errors/domain-error.ts';
import { attachFiles, claimFiles } from '@ticketing/files/attach-files.ts';
import type { AttachmentState } from '@ticketing/files/attachment.ts';
import type { FileContext } from '@ticketing/files/file-context.ts';
import { tooManyFiles } from '@ticketing/files/file-errors.ts';
import { type NewFiles, newFiles } from '@ticketing/files/new-files.ts';
import { type Runtime, secondsNow } from '@ticketing/runtime/runtime.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { isHuman } from '@ticketing/service-kit/identity/caller.ts';
import { conflict, retryOnConflict } from '@ticketing/store/document/retry-on-conflict.ts';
import type { IdSequence } from '@ticketing/store/ids/id-sequence.ts';
import type { CustomerDirectory } from '../customer/directory.ts';
import { eventHeaderFor } from '../event-header.ts';
import { addressViolations } from '../rules/mail-headers.ts';
import { findReasonNotSent, isMail } from '../rules/sending.ts';
import { type TagTree, unknownTags } from '../tag/rules.ts';
import type { TagStore } from '../tag/store.ts';
import type { TextWork } from '../text/work.ts';
import { type CheckDeps, findSubchannelViolations } from './checks.ts';
import { type ChangePlan, type Commit, isApplied, previewChange } from './commit.ts';
import { type AddMessages, decideTicket, type InsertOptions, type TicketDraft, type WriteCall } from './insert.ts';
import { readSlaRules, ticketInputReader } from './patch.ts';
import { followCustomer } from './refresh-customer.ts';
import { decideFields } from './rules/decision.ts';
import type { TicketInput, TicketState } from './rules/fields.ts';
import { withStricterTargets } from './rules/sla.ts';
import { newStoredTicket, type StoredTicket, ticketSubject } from './store/document.ts';
import type { ExternalIdStore } from './store/external-id-store.ts';
import type { TicketStore } from './store/store.ts';
import { type TemplateTexts, templateViolations } from './template/text.ts';
import type { TicketViews } from './views.ts';

interface CreateTicketDeps extends WriteTicketDeps {
  tags: TagStore;
  templates: Pick<TemplateTexts, 'text'>;
  /** Has a new ticket analysed, and waits until it is. Never fails. */
  analyse(call: Call, ticketId: number): Promise<void>;
  views: Pick<TicketViews, 'written'>;
}

/** The dependencies of the creation or update of a ticket whose request is valid. */
export interface WriteTicketDeps extends CheckDeps {
  textWork: TextWork;
  attachments: FileContext;
  writes: TicketWrites;
}

/** The writes of a request that creates a ticket or updates it. */
export interface TicketWrites {
  tickets: Pick<TicketStore, 'find' | 'findByExternalId'>;
  ids: TicketIds;
  customers: CustomerDirectory;
  /** Reads all that a new ticket depends on (`draftTicket`). */
  draft(call: WriteCall, input: TicketInput, ids: { id: number; openingMessageId?: number }): Promise<TicketDraft>;
  /** Inserts a ticket; undefined if its id is taken (`insertTicket`). */
  insert(call: WriteCall, ticket: TicketState, options?: InsertOptions): Promise<StoredTicket | undefined>;
  commit: Commit;
  runtime: Runtime;
}

/** The ids of tickets, and their external ids. */
interface TicketIds {
  sequence: IdSequence;
  external: ExternalIdStore;
  /** Whether an id was closed before its ticket was inserted. */
  isVoid(id: number): Promise<boolean>;
}

/** A valid request: what it writes. */
export interface TicketContent {
  request: CreateTicketRequest;
  /** The fields that it sets, apart from the text of a template. */
  input: TicketInput;
  /**
   * Renders its template, if it names one, for a ticket as the request leaves it apart from the text. Returns the fields
   * that this sets.
   */
  render?: ((stored: StoredTicket, options?: { isToBeSent?: boolean }) => Promise<TicketInput>) | undefined;
  /** Adds messages to the ticket, if it is new. */
  addMessages?: AddMessages;
  /** Whether it is one of several that come from elsewhere. */
  isImport?: boolean;
}

const readInput = ticketInputReader(CreateTicketRequestSchema);
/** The most files that a ticket itself lists, after all requests that have added some. */
const maxTicketFiles = 200;

/**
 * Creates a ticket, or updates the one with the same external id.
 *
 * Errors: unknown_tag, unknown_subchannel, subchannel_disabled, invalid_format, not_allowed, conflicting_fields, each with
 * a pointer; those of `attachFiles` and `TemplateTexts.text`; settings_unavailable; concurrent_change; sandbox_busy and
 * sandbox_crashed, for a long body. Source: docs/reference/api.md, Creating a ticket.
 */
export async function createTicket(
  deps: CreateTicketDeps,
  call: Call,
  request: CreateTicketRequest,
): Promise<CreateTicketResponse> {
  const recentTree = await deps.tags.recentTree();
  const tree = request.tags.every(recentTree.get) ? recentTree : await deps.tags.tree();
  const violations = await findTicketViolations(deps, request, tree);
  if (violations.length > 0) throw invalidInput(violations);
  const fields = await readTicketFields(deps, call, request);
  const files = newFiles(deps.attachments, call);
  const attachments = files.add(await attachFiles(deps.attachments, call, request.attachments));
  const input = withFiles(fields, attachments);
  const render = textRenderer(deps, call, { request, input, tree, files });
  const written = await files.settle(
    writeTicket(deps, call, { request, input, render }).then((stored) => {
      files.keep(stored.ticket.attachments);
      return stored;
    }),
  );
  const { id } = written.ticket;
  call.idempotency?.addSubject(ticketSubject(id));
  const isAnalysed = request.process === AiProcess.REALTIME;
  if (isAnalysed) await deps.analyse(call, id);
  const stored = (isAnalysed ? await deps.writes.tickets.find(id) : undefined) ?? written;
  const options = { withRawData: request.includeRawData ?? false, tree };
  return {
    $typeName: 'ticketing.tickets.v1.CreateTicketResponse',
    ticket: await deps.views.written(call, stored, options),
  };
}

/**
 * Inserts the ticket of a valid request, or updates the one with the same external id; again if another request interferes.
 * Errors: ticket_not_found, for a repeated request whose ticket was deleted; too_many_attachments; concurrent_change; those
 * of the template.
 */
export async function writeTicket(
  deps: WriteTicketDeps,
  call: WriteCall,
  content: TicketContent,
): Promise<StoredTicket> {
  const { externalTicketId } = content.request;
  if (externalTicketId === undefined) return insertNew(deps, call, content);
  return retryOnConflict(deps.writes.runtime, 'The ticket is being changed too often.', (nth) =>
    upsertOnce(deps, call, content, { externalTicketId, mayBeVoid: nth > 1 }),
  );
}

/** How many ids a new ticket may take: an id is made void only if its insertion takes minutes. */
const maxIds = 3;

/**
 * Inserts the ticket with a new id. A repeated request with an idempotency key gets the ticket that it has already
 * inserted.
 *
 * Errors: ticket_not_found, if that ticket was deleted.
 */
async function insertNew(deps: WriteTicketDeps, call: WriteCall, content: TicketContent): Promise<StoredTicket> {
  for (let nth = 1; nth <= maxIds; nth += 1) {
    const stored = await insertWithId(deps, call, content, nth);
    if (stored) return stored;
  }
  throw new Error('new ids were made void again and again');
}

/** Inserts the ticket with the `nth` id of the request. Returns undefined if the id was made void meanwhile. */
async function insertWithId(
  deps: WriteTicketDeps,
  call: WriteCall,
  content: TicketContent,
  nth: number,
): Promise<StoredTicket | undefined> {
  const { ids, tickets, insert } = deps.writes;
  const next = () => ids.sequence.next();
  // Every repetition of the request comes to the same ids in the same order.
  const id = await (call.idempotency ? call.idempotency.reserve(nth === 1 ? 'ticket' : `ticket${nth}`, next) : next());
  const findRepeated = () => (call.idempotency ? tickets.find(id) : undefined);
  // A template is not rendered again for a ticket that is there.
  const repeated = content.render ? await findRepeated() : undefined;
  if (repeated) return repeated;
  const ticket = await planTicket(deps, call, content, id);
  const stored = (await insert(call, ticket, insertOptions(content, ticket))) ?? (await findRepeated());
  if (stored || (await ids.isVoid(id))) return stored;
  throw call.idempotency ? notFound('Ticket') : new Error('a new id was taken');
}

/**
 * Inserts the ticket with an external id, or updates it if it exists. Of several concurrent requests, the first that
 * claims the external id inserts. Returns `conflict` if another request interferes. `mayBeVoid` says whether the id that
 * the request has taken before may have been made void.
 *
 * Errors: ticket_not_found, for a repeated request whose ticket was deleted.
 * A process that dies between the claim and the insertion leaves an external id of a ticket that does not exist: the next
 * request inserts the ticket with that id.
 */
async function upsertOnce(
  deps: WriteTicketDeps,
  call: WriteCall,
  content: TicketContent,
  { externalTicketId, mayBeVoid }: { externalTicketId: string; mayBeVoid: boolean },
): Promise<StoredTicket | typeof conflict> {
  const { ids, tickets, insert } = deps.writes;
  const known = await ids.external.find(externalTicketId);
  const existing = known === undefined ? undefined : await tickets.find(known);
  if (existing) return update(deps, call, content, existing);
  const { id, isReserved } =
    known === undefined ? await newId(deps, call, mayBeVoid) : { id: known, isReserved: false };
  const ticket = await planTicket(deps, call, content, id);
  if (known === undefined && (await ids.external.claim(externalTicketId, id)) !== id) {
    if (!isReserved) ids.sequence.release(id);
    return conflict;
  }
  const inserted = await insert(call, ticket, insertOptions(content, ticket));
  if (inserted) return inserted;
  // The ticket was deleted before.
  const isDeleted = !(await tickets.find(id));
  if (isDeleted) await ids.external.free(id);
  if (isDeleted && isReserved && !(await ids.isVoid(id))) throw notFound('Ticket');
  return conflict;
}

/** Takes an id for a ticket: the one that a repeated request has taken before, unless it is void. */
async function newId(
  { writes: { ids } }: WriteTicketDeps,
  { idempotency }: WriteCall,
  mayBeVoid: boolean,
): Promise<{ id: number; isReserved: boolean }> {
  const next = () => ids.sequence.next();
  const reserved = idempotency && (await idempotency.reserve('ticket', next));
  return reserved === undefined || (mayBeVoid && (await ids.isVoid(reserved)))
    ? { id: await next(), isReserved: false }
    : { id: reserved, isReserved: true };
}

function insertOptions({ request, addMessages, isImport }: TicketContent, ticket: TicketState): InsertOptions {
  return { sendsMessage: sendsMessage(request, ticket), addMessages, isImport };
}

/** Whether the first message of a ticket is sent, if its direction is out. One that left elsewhere before is not. */
function sendsMessage({ send = true, createdAt }: CreateTicketRequest, { modifiedAt }: TicketState): boolean {
  return send && (createdAt === undefined || Number(createdAt.seconds) >= (modifiedAt ?? 0));
}

/** Plans the ticket of a request, with the text of its template. */
async function planTicket(
  deps: WriteTicketDeps,
  call: WriteCall,
  content: TicketContent,
  id: number,
): Promise<TicketState> {
  const { request, input, render } = content;
  if (!render) return decideTicket(await deps.writes.draft(call, input, { id }));
  // A body that is still to be rendered counts as a message already.
  const draft = await deps.writes.draft(call, { ...input, body: '' }, { id });
  const stored = newStoredTicket({ ...decideTicket(draft), body: null });
  const isToBeSent = sendsMessage(request, stored.ticket);
  return decideTicket(draft, await render(stored, { isToBeSent }));
}

/** Updates a ticket. Returns `conflict` if it was deleted meanwhile. */
async function update(
  deps: WriteTicketDeps,
  call: WriteCall,
  content: TicketContent,
  existing: StoredTicket,
): Promise<StoredTicket | typeof conflict> {
  if (isApplied(existing, call.idempotency?.id)) return existing;
  const plan = await planUpdate(deps, call, content, existing);
  await claimFiles(deps.attachments, existing.ticket.id, plan.added);
  try {
    return await deps.writes.commit(plan);
  } catch (error) {
    if (error instanceof DomainError && error.code === 'not_found') return conflict;
    throw error;
  }
}

/** Plans the update of a ticket, with the text of its template and the files that it adds. */
async function planUpdate(
  deps: WriteTicketDeps,
  call: WriteCall,
  content: TicketContent,
  existing: StoredTicket,
): Promise<ChangePlan & { added: readonly AttachmentState[] }> {
  const { writes } = deps;
  const now = secondsNow(writes.runtime);
  const sla = await readSlaRules(deps, content.input.tagIds !== undefined);
  const plan = (input: TicketInput): ChangePlan => ({
    ticketId: existing.ticket.id,
    identify: followCustomer(writes.customers, input, isHuman(call.caller)),
    decide({ ticket }, identified) {
      const fields = withStricterTargets(ticket, addFiles(ticket, { ...identified, ...input }), sla);
      return decideFields(ticket, fields, now, eventHeaderFor(writes, call));
    },
    requestId: call.idempotency?.id,
  });
  const { input, render } = content;
  if (!render) return { ...plan(input), read: existing, added: input.attachments ?? [] };
  const withoutText = { body: null, bodyHtml: null, bodyPlain: null, bodyClean: null };
  const ticket = { ...(await previewChange(plan(input), existing)), ...withoutText };
  const rendered = { ...input, ...(await render({ ...existing, ticket })) };
  // The ticket is read again, because others may have changed it while the template was rendered.
  return { ...plan(rendered), added: rendered.attachments ?? [] };
}

/** Adds the files of an update to those of the ticket. */
function addFiles(ticket: TicketState, { attachments: added = [], ...input }: TicketInput): TicketInput {
  if (added.length === 0) return input;
  const attachments = [...ticket.attachments, ...added];
  if (attachments.length > maxTicketFiles) {
    throw tooManyFiles('#/attachments', `would give the ticket more than ${maxTicketFiles} files`);
  }
  return { ...input, attachments };
}

/** Makes the function that renders the template of a request, if it names one. */
function textRenderer(
  deps: CreateTicketDeps,
  call: Call,
  content: Pick<TicketContent, 'request' | 'input'> & { tree: TagTree; files: NewFiles },
): TicketContent['render'] {
  const { request, input, tree, files } = content;
  const { templateId, templateData } = request;
  if (templateId === undefined) return undefined;
  return async (stored, { isToBeSent = false } = {}) => {
    const { subject } = stored.ticket;
    const own: readonly AttachmentState[] = input.attachments ?? [];
    const opening = { template: { templateId, templateData }, stored, tree, files: own };
    const isSent = isToBeSent && findReasonNotSent(stored.ticket, stored.ticket, { isNamed: true }) === undefined;
    const message = { ...opening, isMail: isMail(stored.ticket.channel, stored.ticket, { isSent }) };
    const text = await deps.templates.text(call, message);
    const body = await withBodyFields(deps, call, { body: text.body });
    const named = subject === null && text.subject !== null ? { ...body, subject: text.subject } : body;
    return withFiles(named, [...own, ...files.add(text.files)]);
  };
}

/** The fields that a request sets, with the texts that are made of its body, but without its files. */
export function readTicketFields(
  deps: Pick<WriteTicketDeps, 'textWork'>,
  call: Pick<Call, 'caller'>,
  request: CreateTicketRequest,
): Promise<TicketInput> {
  return withBodyFields(deps, call, readInput(request));
}

/** Adds the files of a request to the fields that it sets. */
export function withFiles(input: TicketInput, attachments: readonly AttachmentState[]): TicketInput {
  return attachments.length === 0 ? input : { ...input, attachments };
}

/** Adds the texts that are made of a body. An empty body is none. */
async function withBodyFields(
  { textWork }: Pick<CreateTicketDeps, 'textWork'>,
  { caller }: Pick<Call, 'caller'>,
  input: TicketInput,
): Promise<TicketInput> {
  if (input.body === undefined) return input;
  const body = input.body === '' ? null : input.body;
  return { ...input, body, ...(await textWork.bodyFields(body, caller)), isBodyText: false };
}

/** The fields that only one channel has. */
const channelFields = [
  { name: 'channelId', only: Channel.CHAT, detail: 'is for channel chat only' },
  { name: 'callerNumber', only: Channel.PHONE, detail: 'is for channel phone only' },
] as const;

/** The violations in a request that the rules of the contract cannot find. Errors: settings_unavailable. */
export async function findTicketViolations(
  { settings, writes }: Pick<WriteTicketDeps, 'settings' | 'writes'>,
  request: CreateTicketRequest,
  tree: TagTree,
): Promise<Violation[]> {
  const { channel = 0, from, to, cc, bcc, externalTicketId } = request;
  // An update keeps the direction of the ticket, which is read only for blind copies, because nothing else depends on it.
  const mayBeKept = request.direction === undefined && externalTicketId !== undefined && bcc.length > 0;
  const existing = mayBeKept ? await writes.tickets.findByExternalId(externalTicketId) : undefined;
  const direction = request.direction ?? existing?.ticket.direction ?? Direction.IN;
  return [
    ...addressViolations({ channel, direction, from, to, cc, bcc }),
    ...unknownTags(tree, request.tags, '#/tags'),
    ...templateViolations(request),
    ...(request.templateId !== undefined && request.body !== undefined
      ? [{ pointer: '#/body', code: 'conflicting_fields', detail: 'cannot be combined with templateId' }]
      : []),
    ...channelFields
      .filter(({ name, only }) => request[name] !== undefined && channel !== only)
      .map(({ name, detail }) => ({ pointer: `#/${name}`, code: 'not_allowed', detail })),
    ...(await findSubchannelViolations(settings, [
      { input: { subchannelId: request.subchannelId ?? null }, pointer: '#' },
    ])),
  ];
}
