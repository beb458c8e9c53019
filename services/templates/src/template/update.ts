import type {
  UpdateTemplateRequest,
  UpdateTemplateResponse,
} from '@ticketing/contracts/ticketing/templates/v1/template_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import { claimFiles, releaseFiles, removeFiles } from '@ticketing/files/attach-files.ts';
import type { AttachmentState } from '@ticketing/files/attachment.ts';
import { attachDraftFiles, type DraftFiles } from '@ticketing/files/draft-files.ts';
import { type NewFiles, newFiles } from '@ticketing/files/new-files.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { TemplateParts } from './open.ts';
import type { TemplateChange, TemplateState } from './rules.ts';
import type { DecideTemplate } from './store.ts';
import { storedTemplateToProto } from './to-proto.ts';
import { requireValidTemplate } from './validate.ts';

/**
 * Changes a response template.
 *
 * Errors: template_not_found; unknown_attachment; those of `requireValidTemplate` and `attachFiles`.
 * Source: docs/reference/api.md, Templates.
 */
export async function updateTemplate(
  parts: TemplateParts,
  call: Call,
  request: UpdateTemplateRequest,
): Promise<UpdateTemplateResponse> {
  const { id } = request;
  if (!(await parts.templates.find(id))) throw notFound('Template');
  const change = toChange(request);
  await requireValidTemplate(parts, call, change);
  const changed = request.updateMask?.paths.includes('attachments')
    ? await changeWithFiles(parts, call, request, change)
    : await applyChange(parts, id, () => change);
  const template = await storedTemplateToProto(parts, call, changed);
  return { $typeName: 'ticketing.templates.v1.UpdateTemplateResponse', success: true, template };
}

/** Returns the fields that the mask names. The contract's rules have checked that a field without a value may be cleared. */
function toChange(request: UpdateTemplateRequest): TemplateChange {
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
  parts: TemplateParts,
  call: Call,
  { id, attachments }: UpdateTemplateRequest,
  change: TemplateChange,
): Promise<TemplateState> {
  const drafted = await attachDraftFiles(parts.files, call, attachments);
  const files = newFiles(parts.files, call);
  files.add(drafted.stored);
  const { changed, dropped } = await files.settle(writeList(parts, id, change, { drafted, files }));
  await removeFiles(parts.files, dropped);
  return changed;
}

/** Writes a change with the new list of files. Returns the files that the template no longer lists too. */
async function writeList(
  parts: TemplateParts,
  id: number,
  change: TemplateChange,
  { drafted, files }: { drafted: DraftFiles; files: NewFiles },
): Promise<{ changed: TemplateState; dropped: readonly AttachmentState[] }> {
  await claimFiles(parts.files, id, drafted.stored);
  let dropped: readonly AttachmentState[] = [];
  const changed = await applyChange(parts, id, async (current) => {
    const listed = drafted.listFor(current.attachments);
    dropped = current.attachments.filter(({ key }) => !listed.some((file) => file.key === key));
    // If this process dies after the next write, the sweeper removes them.
    await releaseFiles(parts.files, dropped);
    return { ...change, attachments: listed };
  });
  files.keep(changed.attachments);
  return { changed, dropped };
}

/**
 * Changes a template, and unsets an e-mail template that does not exist.
 * Errors: template_not_found; those of `decide`.
 */
async function applyChange(parts: TemplateParts, id: number, decide: DecideTemplate): Promise<TemplateState> {
  const changed = await parts.templates.change(id, async (current) => ({
    ...(await unsetMissing(parts, current)),
    ...(await decide(current)),
  }));
  if (!changed) throw notFound('Template');
  return changed;
}

/** Unsets the e-mail template if it was deleted while the template was stored before. */
async function unsetMissing(
  { wrappers }: TemplateParts,
  { emailTemplateId }: TemplateState,
): Promise<Pick<TemplateChange, 'emailTemplateId'>> {
  if (emailTemplateId === null) return {};
  const [known] = await wrappers.emailTemplates.sizes([emailTemplateId]);
  return known ? {} : { emailTemplateId: null };
}
