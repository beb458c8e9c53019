import type {
  RenderTemplateRequest,
  RenderTemplateResponse,
} from '@ticketing/contracts/ticketing/templates/v1/rendering_service_pb.ts';
import { invalidInput } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { findWrapperText, readWrappers } from '../email-template/wrappers.ts';
import type { TemplateParts } from './open.ts';
import { templateFiles } from './to-proto.ts';

const pointer = '#/templateId';

/**
 * Renders a response template for a message that another service writes.
 *
 * Errors: unknown_template; those of `Rendering.render`. Source: docs/reference/api.md, Templates.
 */
export async function renderTemplate(
  parts: TemplateParts,
  _call: Call,
  { templateId, variables, withWrapper }: RenderTemplateRequest,
): Promise<RenderTemplateResponse> {
  const state = await parts.templates.find(templateId);
  if (!state) throw invalidInput([{ pointer, code: 'unknown_template', detail: 'There is no such template.' }]);
  const wrapper = withWrapper ? findWrapperText(await readWrappers(parts.wrappers, [state]), state) : undefined;
  const input = { message: state.message, subject: state.subject ?? undefined, wrapper, variables, pointer };
  // Runs are limited per template, so that one that uses up its time delays only its own users.
  const { message, subject } = await parts.rendering.render(input, `template ${templateId}`);
  return {
    $typeName: 'ticketing.templates.v1.RenderTemplateResponse',
    message,
    ...(subject ? { subject } : {}),
    attachments: templateFiles(state),
  };
}
