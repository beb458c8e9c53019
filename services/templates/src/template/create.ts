import type {
  CreateTemplateRequest,
  CreateTemplateResponse,
} from '@ticketing/contracts/ticketing/templates/v1/template_service_pb.ts';
import { attachFiles, claimFiles } from '@ticketing/files/attach-files.ts';
import { writeWithFiles } from '@ticketing/files/write-with-files.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { Context } from '../context.ts';
import { writtenTemplate } from './stored-to-proto.ts';
import { requireValidTemplate } from './validate.ts';

/**
 * Creates a response template.
 *
 * Errors: those of `requireValidTemplate` and `attachFiles`. Source: docs/reference/api.md, Templates.
 */
export async function createTemplate(
  context: Context,
  call: Call,
  request: CreateTemplateRequest,
): Promise<CreateTemplateResponse> {
  const fields = {
    message: request.message ?? '',
    description: request.description ?? '',
    tagId: request.tagId ?? null,
    emailTemplateId: request.emailTemplateId ?? null,
    subject: request.subject ?? null,
    exampleTicketIds: request.exampleTicketIds,
  };
  await requireValidTemplate(context, call, fields);
  const next = () => context.templateIds.next();
  const id = call.idempotency ? await call.idempotency.reserve('template', next) : await next();
  const attachments = await attachFiles(context, call, request.attachments);
  const given = { id, version: 1, ...fields, attachments };
  const stored = await writeWithFiles(
    context,
    call,
    attachments,
    async () => {
      await claimFiles(context, id, attachments);
      await context.templates.add(given);
      // Reads it again: a process that has died may have created it for the same request.
      return (await context.templates.find(id)) ?? given;
    },
    (template) => template.attachments,
  );
  const template = await writtenTemplate(context, call, stored);
  return { $typeName: 'ticketing.templates.v1.CreateTemplateResponse', template };
}
