import { Code, ConnectError } from '@connectrpc/connect';
import { RenderingService } from '@ticketing/contracts/ticketing/templates/v1/rendering_service_pb.ts';
import { TemplateService } from '@ticketing/contracts/ticketing/templates/v1/template_service_pb.ts';
import type { ContentType } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { type DomainError, invalidInput } from '@ticketing/errors/domain-error.ts';
import { toConnectError } from '@ticketing/errors/error-table.ts';
import { bodyPiece } from '@ticketing/rest/routes/http-body.ts';
import { type StubServer, startStubServer } from '@ticketing/testkit/stub-server.ts';

/** A response template of the stub, as functions of its values. */
export interface StubTemplate {
  // biome-ignore lint/suspicious/noExplicitAny: templates read values of every shape
  message(values: any): string;
  // biome-ignore lint/suspicious/noExplicitAny: templates read values of every shape
  subject?(values: any): string;
  /** The content of its files by their names, which have 8 characters and are their ids. */
  files?: Record<string, string>;
}

/** A call to render a template. */
export interface Rendered {
  templateId: number;
  withWrapper: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: tests read values of every shape
  values: any;
}

/** The data of the stub of the templates service, and the calls that it has received. */
export class TemplatesModel {
  readonly templates = new Map<number, StubTemplate>();
  readonly wrappers = new Map<number, string>();
  readonly rendered: Rendered[] = [];
  /** The messages without a template that e-mail templates were rendered around. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read values of every shape
  readonly wrapped: { type: ContentType | undefined; values: any }[] = [];
  /** The lists of ids for which an e-mail template was looked for. */
  readonly asked: number[][] = [];
  /** Whether every call fails with `unavailable`, or never ends. */
  state: 'available' | 'unavailable' | 'frozen' = 'available';
  /** The error with which rendering fails. */
  failure: DomainError | undefined;
  /** Called before a rendered text is returned. */
  beforeResponse: (() => Promise<void>) | undefined;
  /** Called before a file is sent. */
  beforeFile: (() => Promise<void>) | undefined;
}

/** The text of the stub's e-mail template around a message. */
export const wrapped = (message: string) => `<p>Dear customer</p>${message}<p>Kind regards</p>`;

/** Serves a model over gRPC, as the part of the templates service that the tickets service calls. */
export function serveTemplates(model: TemplatesModel): Promise<StubServer> {
  const requireAvailable = async (signal: AbortSignal) => {
    if (model.state === 'unavailable') throw new ConnectError('unavailable', Code.Unavailable);
    if (model.state === 'frozen') await new Promise((_, reject) => signal.addEventListener('abort', reject));
  };
  const wrapperOf = (ids: number[]) => ids.map((id) => model.wrappers.get(id)).find((text) => text !== undefined);
  return startStubServer((router) => {
    router.service(TemplateService, {
      async *getTemplateAttachment({ id, attachmentId }, { signal }) {
        await model.beforeFile?.();
        await requireAvailable(signal);
        const content = model.templates.get(id)?.files?.[attachmentId];
        if (content === undefined) throw new ConnectError('Template or attachment not found', Code.NotFound);
        yield { body: bodyPiece(Buffer.from(content)) };
      },
    });
    router.service(RenderingService, {
      async renderTemplate({ templateId, variables, withWrapper }, { signal }) {
        await requireAvailable(signal);
        const values = JSON.parse(Buffer.from(variables).toString('utf8'));
        model.rendered.push({ templateId, withWrapper, values });
        if (model.failure) throw toConnectError(model.failure);
        const template = model.templates.get(templateId);
        if (!template) {
          const unknown = { pointer: '#/templateId', code: 'unknown_template', detail: 'There is no such template.' };
          throw toConnectError(invalidInput([unknown]));
        }
        await model.beforeResponse?.();
        const message = template.message(values);
        const subject = template.subject?.(values);
        const attachments = Object.entries(template.files ?? {}).map(([id, content]) => ({
          ...{ id, name: id, contentType: 'text/plain', size: content.length },
        }));
        return {
          attachments,
          message: withWrapper ? wrapped(message) : message,
          ...(subject === undefined ? {} : { subject }),
        };
      },
      async wrapMessage({ content, emailTemplateIds, variables }, { signal }) {
        model.asked.push(emailTemplateIds);
        await requireAvailable(signal);
        const values = JSON.parse(Buffer.from(variables).toString('utf8'));
        model.wrapped.push({ type: content?.type, values });
        if (model.failure) throw toConnectError(model.failure);
        const message = wrapperOf(emailTemplateIds)?.replace('%MESSAGE%', content?.message ?? '');
        return message === undefined ? {} : { message };
      },
      async findWrapper({ emailTemplateIds }, { signal }) {
        model.asked.push(emailTemplateIds);
        await requireAvailable(signal);
        const template = wrapperOf(emailTemplateIds);
        return template === undefined ? {} : { template };
      },
    });
  });
}
