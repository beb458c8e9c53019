import type {
  UpdateTemplateRequest,
  UpdateTemplateResponse,
} from '@ticketing/contracts/ticketing/templates/v1/template_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import { claimFiles, releaseFiles, removeFiles } from '@ticketing/files/attach-files.ts';
import type { AttachmentState } from '@ticketing/files/attachment.ts';
import { attachDraftFiles } from '@ticketing/files/draft-files.ts';
import { writeWithFiles } from '@ticketing/files/write-with-files.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { Context } from '../context.ts';
import type { TemplateChange, TemplateState } from './rules.ts';
import type { DecideTemplate } from './store.ts';
import { writtenTemplate } from './stored-to-proto.ts';
import { requireValidTemplate } from './validate.ts';

/**
 * Changes a response template.
 *
 * Errors: template_not_found; unknown_attachment; those of `requireValidTemplate` and `attachFiles`.
 * Source: docs/reference/api.md, Templates.
 */
export async function updateTemplate(
  context: Context,
  call: Call,
  request: UpdateTemplateRequest,
): Promise<UpdateTemplateResponse> {
  const { id } = request;
  if (!(await context.templates.find(id))) throw notFound('Template');
  const change = changeOf(request);
  await requireValidTemplate(context, call, change);
  const changed = request.updateMask?.paths.includes('attachments')
    ? await changeWithFiles(context, call, request, change)
    : await applyChange(context, id, () => change);
  const template = await writtenTemplate(context, call, changed);
  return { $typeName: 'ticketing.templates.v1.UpdateTemplateResponse', success: true, template };
}

/** The fields that the mask names. The contract's rules have checked that a field without a value may be cleared. */
function changeOf(request: UpdateTemplateRequest): TemplateChange {
  const values: Record<string, { [Name in keyof TemplateChange]: TemplateChange[Name] | undefined }> = {
    message: { message: request.message },
    description: { description: request.description },
    tag_id: { tagId: request.tagId ?? null },
    email_template_id: { emailTemplateId: request.emailTemplateId ?? null },
    subject: { subject: request.subject ?? null },
    example_ticket_ids: { exampleTicketIds: request.exampleTicketIds },
  };
  return Object.assign({}, ...(request.updateMask?.paths ?? []).map((path) => values[path]));
}

/** Changes a template and the list of its files. Files that it lists no longer are removed. */
async function changeWithFiles(
  context: Context,
  call: Call,
  { id, attachments }: UpdateTemplateRequest,
  change: TemplateChange,
): Promise<TemplateState> {
  const files = await attachDraftFiles(context, call, attachments);
  let dropped: readonly AttachmentState[] = [];
  const changed = await writeWithFiles(
    context,
    call,
    files.stored,
    async () => {
      await claimFiles(context, id, files.stored);
      return applyChange(context, id, async (current) => {
        const listed = files.listFor(current.attachments);
        dropped = current.attachments.filter(({ key }) => !listed.some((file) => file.key === key));
        // If this process dies after the next write, the sweeper removes them.
        await releaseFiles(context, dropped);
        return { ...change, attachments: listed };
      });
    },
    (template) => template.attachments,
  );
  await removeFiles(context, dropped);
  return changed;
}

/**
 * Changes a template, and unsets an e-mail template that does not exist.
 * Errors: template_not_found; those of `decide`.
 */
async function applyChange(context: Context, id: number, decide: DecideTemplate): Promise<TemplateState> {
  const changed = await context.templates.change(id, async (current) => ({
    ...(await droppedFrom(context, current)),
    ...(await decide(current)),
  }));
  if (!changed) throw notFound('Template');
  return changed;
}

/** Unsets the e-mail template if it was deleted while the template was stored before. */
async function droppedFrom(
  { emailTemplates }: Context,
  { emailTemplateId }: TemplateState,
): Promise<Pick<TemplateChange, 'emailTemplateId'>> {
  if (emailTemplateId === null) return {};
  const [known] = await emailTemplates.sizes([emailTemplateId]);
  return known ? {} : { emailTemplateId: null };
}
