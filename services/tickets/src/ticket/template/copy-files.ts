import { type Client, Code, ConnectError } from '@connectrpc/connect';
import type { TemplateService } from '@ticketing/contracts/ticketing/templates/v1/template_service_pb.ts';
import type { Attachment } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { AttachmentState } from '@ticketing/files/attachment.ts';
import { copyFiles } from '@ticketing/files/copy-files.ts';
import type { FileContext } from '@ticketing/files/file-context.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';

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

const unavailableCodes = [Code.Unavailable, Code.DeadlineExceeded, Code.ResourceExhausted];

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
