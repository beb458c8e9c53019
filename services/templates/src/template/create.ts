import type {
  CreateTemplateRequest,
  CreateTemplateResponse,
} from '@ticketing/contracts/ticketing/templates/v1/template_service_pb.ts';
import { attachFiles, claimFiles } from '@ticketing/files/attach-files.ts';
import { type NewFiles, newFiles } from '@ticketing/files/new-files.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { TemplateParts } from './open.ts';
import type { TemplateState } from './rules.ts';
import { storedTemplateToProto } from './to-proto.ts';
import { requireValidTemplate } from './validate.ts';

/**
 * Creates a response template.
 *
 * Errors: those of `requireValidTemplate` and `attachFiles`. Source: docs/reference/api.md, Templates.
 */
export async function createTemplate(
  parts: TemplateParts,
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
  await requireValidTemplate(parts, call, fields);
  const next = () => parts.templateIds.next();
  const id = call.idempotency ? await call.idempotency.reserve('template', next) : await next();
  const attachments = await attachFiles(parts.files, call, request.attachments);
  const files = newFiles(parts.files, call);
  const state = { id, version: 1, ...fields, attachments: files.add(attachments) };
  const stored = await files.settle(addTemplate(parts, state, files));
  const template = await storedTemplateToProto(parts, call, stored);
  return { $typeName: 'ticketing.templates.v1.CreateTemplateResponse', template };
}

async function addTemplate(parts: TemplateParts, state: TemplateState, files: NewFiles): Promise<TemplateState> {
  await claimFiles(parts.files, state.id, state.attachments);
  await parts.templates.add(state);
  // Reads it again: a process that has died may have created it for the same request.
  const stored = (await parts.templates.find(state.id)) ?? state;
  files.keep(stored.attachments);
  return stored;
}
