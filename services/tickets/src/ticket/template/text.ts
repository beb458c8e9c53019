import type { JsonObject } from '@bufbuild/protobuf';
import { type Client, Code, ConnectError } from '@connectrpc/connect';
import type { TemplateService } from '@ticketing/contracts/ticketing/templates/v1/template_service_pb.ts';
import type { Attachment, MessageContent } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { beforeChange, DomainError, type Violation } from '@ticketing/errors/domain-error.ts';
import type { AttachmentState } from '@ticketing/files/attachment.ts';
import { copyFiles } from '@ticketing/files/copy-files.ts';
import type { FileContext } from '@ticketing/files/file-context.ts';
import { cutChars } from '@ticketing/runtime/cut-text.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import { oneLine } from '../../rules/mail-headers.ts';
import { type ReadSettings, settingsKnowing } from '../../settings.ts';
import type { TagTree } from '../../tag/rules.ts';
import { filePath } from '../../text/rules/content-urls.ts';
import { emailTemplateIds } from '../rules/subchannels.ts';
import type { StoredTicket } from '../store/document.ts';
import type { ReadCall } from '../views.ts';
import { type Templates, unavailableCodes } from './client.ts';
import { templateVariables, type VariableDeps, variablesJson } from './variables.ts';

/** The template that a request names for its text. */
export interface TemplateRequest {
  templateId?: number | undefined;
  templateData?: JsonObject | undefined;
}

/** The message whose text is rendered. */
interface TemplateMessage {
  template: TemplateRequest & { templateId: number };
  /** The ticket as the request leaves it, apart from the text. */
  stored: StoredTicket;
  tree: TagTree;
  /** Whether it is an outgoing mail. */
  isMail: boolean;
  /** The intents that the message is about: templates read the first one as `intent`. */
  intentIds?: readonly number[] | undefined;
  /** The files that the message has already. */
  files: readonly AttachmentState[];
}

/** The rendered text, which is HTML, with its subject and its files. */
interface TemplateText {
  body: string;
  /** The subject for a message without one; null if the template has none. */
  subject: string | null;
  /** The files of the template, stored as those of the message. */
  files: readonly AttachmentState[];
}

const maxSubjectLength = 998;

/** The violations in the template of a request: data without a template. */
export function templateViolations({ templateId, templateData }: TemplateRequest): Violation[] {
  if (templateId !== undefined || templateData === undefined) return [];
  return [{ pointer: '#/templateData', code: 'not_allowed', detail: 'is only for a template' }];
}

/** Renders the texts of messages. Call it before anything is written. Source: docs/reference/api.md, Messages with a template. */
export interface TemplateTexts {
  /**
   * Renders a response template. An outgoing mail has the e-mail template around it.
   *
   * Errors: those of `Templates.render`, `TicketViews.read` and `copyTemplateFiles`. They come before any change, and leave
   * no file.
   */
  text(call: Call, message: TemplateMessage): Promise<TemplateText>;
  /**
   * Renders the e-mail template of a ticket around a message. Undefined if the message is no outgoing mail, or there is no
   * e-mail template.
   *
   * Errors: those of `Templates.wrap` and `TicketViews.read`. They come before any change.
   */
  wrap(call: Call, message: PlainMessage): Promise<string | undefined>;
}

interface TemplateTextDeps extends VariableDeps {
  templates: Pick<Templates, 'render' | 'wrap'>;
  templateFiles: TemplateFiles;
  attachments: FileContext;
  settings: ReadSettings;
}

export function templateTexts(deps: TemplateTextDeps): TemplateTexts {
  return {
    text: (call, message) => templateText(deps, call, message),
    wrap: (call, message) => wrapText(deps, call, message),
  };
}

async function templateText(deps: TemplateTextDeps, call: Call, message: TemplateMessage): Promise<TemplateText> {
  const { template } = message;
  try {
    const variables = await valuesJson(deps, call, message);
    const { templateId } = template;
    const rendered = await deps.templates.render(call, { templateId, variables, withWrapper: message.isMail });
    const subject = oneLine(rendered.subject ?? '').trim();
    const copies = await copyTemplateFiles(deps, call, templateId, rendered.attachments, message.files);
    return {
      ...withCopiedImages(rendered, copies, { templateId, ticketId: message.stored.ticket.id }),
      subject: subject === '' ? null : cutChars(subject, maxSubjectLength),
    };
  } catch (error) {
    throw beforeChange(error);
  }
}

/** The text of a template that shows the copies of its files, which are then inline, instead of the files. */
function withCopiedImages(
  { message, attachments }: { message: string; attachments: readonly Attachment[] },
  copies: readonly AttachmentState[],
  { templateId, ticketId }: { templateId: number; ticketId: number },
): Pick<TemplateText, 'body' | 'files'> {
  const copyById = new Map(attachments.map(({ id }, index) => [id, copies[index]]));
  const shown = new Set<AttachmentState>();
  const body = message.replace(
    new RegExp(`/template/${templateId}/attachment/([a-z0-9]{8})(?![a-z0-9])`, 'g'),
    (path, id: string) => {
      const copy = copyById.get(id);
      if (!copy) return path;
      shown.add(copy);
      return filePath(ticketId, copy.id);
    },
  );
  return { body, files: copies.map((copy) => (shown.has(copy) ? { ...copy, inline: true } : copy)) };
}

/** A message that is written without a template. */
interface PlainMessage extends Omit<TemplateMessage, 'template' | 'files'> {
  content: MessageContent;
  subchannelId: number | null;
}

async function wrapText(deps: TemplateTextDeps, call: Call, message: PlainMessage): Promise<string | undefined> {
  const { content, subchannelId } = message;
  const ids = message.isMail
    ? emailTemplateIds(subchannelId, await settingsKnowing(deps.settings, [subchannelId]))
    : [];
  if (ids.length === 0) return undefined;
  try {
    const variables = await valuesJson(deps, call, message);
    return await deps.templates.wrap(call, { content, emailTemplateIds: ids, variables });
  } catch (error) {
    throw beforeChange(error);
  }
}

/** The values of a message. The values of a large ticket count as a page only until they are written. */
async function valuesJson(
  deps: TemplateTextDeps,
  call: Call,
  {
    template,
    stored,
    tree,
    intentIds,
  }: Pick<TemplateMessage, 'stored' | 'tree' | 'intentIds'> & { template?: TemplateRequest },
) {
  const ended: (() => void)[] = [];
  const { caller, signal } = call;
  const readCall: ReadCall = {
    ...{ caller, signal },
    endResponse: () => call.endResponse(),
    onEncoded: () => undefined,
    onEnd: (done) => void ended.push(done),
  };
  try {
    const variables = await templateVariables(deps, readCall, stored, {
      tree,
      intentId: intentIds?.[0],
      templateData: template?.templateData,
    });
    return await variablesJson(deps.json, call, variables);
  } finally {
    for (const done of ended) done();
  }
}

/** Makes clients of the service that has the files of templates. */
export type TemplateFiles = (call: OnBehalfOf) => Pick<Client<typeof TemplateService>, 'getTemplateAttachment'>;

/**
 * Stores copies of the files of a response template, which are read from the templates service on behalf of the caller. They
 * are unseen like those of `attachFiles`. `beside` are the files that the message has already.
 *
 * Errors: attachments_too_large, too_many_attachments; storage_quota; concurrent_change, if the template or one of the
 * files was deleted since the template was rendered; templates_unavailable. No copy is left then.
 * Source: docs/reference/api.md, Attachments.
 */
export async function copyTemplateFiles(
  deps: { attachments: FileContext; templateFiles: TemplateFiles },
  call: Pick<Call, 'caller' | 'trace' | 'signal'>,
  templateId: number,
  attachments: readonly Attachment[],
  beside: readonly AttachmentState[] = [],
): Promise<AttachmentState[]> {
  const client = deps.templateFiles(call);
  const read = async function* read({ id: attachmentId }: Attachment) {
    const reading = new AbortController();
    try {
      const pieces = client.getTemplateAttachment({ id: templateId, attachmentId }, { signal: reading.signal });
      for await (const { body } of pieces) if (body && body.data.length > 0) yield body.data;
    } catch (error) {
      call.signal.throwIfAborted();
      throw copyError(error);
    } finally {
      // A loop that ends early does not end the call.
      reading.abort();
    }
  };
  return copyFiles(deps.attachments, call, attachments, read, beside);
}

function copyError(error: unknown): unknown {
  if (!(error instanceof ConnectError)) return error;
  if (error.code === Code.NotFound) {
    const detail = 'The response template was changed while its files were copied.';
    return new DomainError('aborted', 'concurrent_change', detail, { cause: error });
  }
  if (!unavailableCodes.includes(error.code)) return error;
  const detail = 'The files of the template cannot be read at the moment.';
  return new DomainError('unavailable', 'templates_unavailable', detail, { retryAfterSeconds: 2, cause: error });
}
