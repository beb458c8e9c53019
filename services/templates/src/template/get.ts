import type {
  GetTemplateRequest,
  GetTemplateResponse,
} from '@ticketing/contracts/ticketing/templates/v1/template_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { callerKey } from '@ticketing/service-kit/identity/caller.ts';
import { findWrapperText, readWrappers } from '../email-template/wrappers.ts';
import type { TemplateParts } from './open.ts';
import { templateBytes } from './rules.ts';
import { responseBytes, templateToProto } from './to-proto.ts';

/** Reads a response template. Errors: template_not_found, too_much_at_once. Source: docs/reference/api.md, Templates. */
export async function getTemplate(
  parts: TemplateParts,
  call: Call,
  { id }: GetTemplateRequest,
): Promise<GetTemplateResponse> {
  const state = await parts.templates.find(id);
  if (!state) throw notFound('Template');
  const wrappers = await readWrappers(parts.wrappers, [state]);
  const bytes = responseBytes(templateBytes(state), Buffer.byteLength(findWrapperText(wrappers, state) ?? ''));
  await parts.pages.take(callerKey(call.caller), bytes, call);
  const template = templateToProto(state, wrappers);
  return { $typeName: 'ticketing.templates.v1.GetTemplateResponse', template };
}
