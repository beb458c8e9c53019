import type {
  WrapMessageRequest,
  WrapMessageResponse,
} from '@ticketing/contracts/ticketing/templates/v1/rendering_service_pb.ts';
import { ContentType } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { EmailTemplateParts } from './open.ts';
import { findFirst } from './wrappers.ts';

/** The message is a value, so that nothing in it is read as a tag of Handlebars. */
const messages = {
  html: '{{{content}}}',
  text: '<p>{{#each content}}{{#unless @first}}<br />{{/unless}}{{this}}{{/each}}</p>',
};

/**
 * Renders a message, which is no template, into the first e-mail template of a list that exists.
 *
 * Errors: those of `Rendering.render`. Source: docs/reference/api.md, Messages with a template.
 */
export async function wrapMessage(
  parts: EmailTemplateParts,
  _call: Call,
  { content, emailTemplateIds, variables }: WrapMessageRequest,
): Promise<WrapMessageResponse> {
  const $typeName = 'ticketing.templates.v1.WrapMessageResponse';
  const wrapper = await findFirst(parts, emailTemplateIds);
  if (!wrapper) return { $typeName };
  const { message: text = '', type } = content ?? {};
  const isHtml = type === ContentType.HTML;
  const input = {
    message: isHtml ? messages.html : messages.text,
    wrapper: wrapper.template,
    variables,
    more: { content: isHtml ? text : text.split(/\r\n?|\n/) },
    pointer: '#/content',
  };
  // Runs are limited per e-mail template, so that one that uses up its time delays only its own users.
  const { message } = await parts.rendering.render(input, `email template ${wrapper.id}`);
  return { $typeName, message };
}
