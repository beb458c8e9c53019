import type {
  GetTemplateRequest,
  GetTemplateResponse,
} from '@ticketing/contracts/ticketing/templates/v1/template_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { callerKey } from '@ticketing/service-kit/identity/caller.ts';
import type { Context } from '../context.ts';
import { templateBytes } from './rules.ts';
import { messageBytes, templateMessage, wrapperOf, wrappersOf } from './to-proto.ts';

/** Reads a response template. Errors: template_not_found, too_much_at_once. Source: docs/reference/api.md, Templates. */
export async function getTemplate(
  context: Context,
  call: Call,
  { id }: GetTemplateRequest,
): Promise<GetTemplateResponse> {
  const state = await context.templates.find(id);
  if (!state) throw notFound('Template');
  const wrappers = await wrappersOf(context, [state]);
  const bytes = messageBytes(templateBytes(state), Buffer.byteLength(wrapperOf(wrappers, state) ?? ''));
  await context.pages.take(callerKey(call.caller), bytes, call);
  const template = templateMessage(state, wrappers);
  return { $typeName: 'ticketing.templates.v1.GetTemplateResponse', template };
}
