import { invalidInput } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { callerKey } from '@ticketing/service-kit/identity/caller.ts';
import type { EmailTemplateParts } from './open.ts';
import type { EmailTemplateState } from './rules.ts';

/**
 * Refuses an invalid name or text of an e-mail template.
 * Errors: the problems of its text, message_placeholder, too_short.
 */
export async function requireValidEmailTemplate(
  { rendering }: EmailTemplateParts,
  { caller }: Call,
  { name, template }: Partial<EmailTemplateState>,
): Promise<void> {
  const pointer = '#/template';
  const texts = template === undefined ? [] : [{ kind: 'wrapper' as const, text: template, pointer }];
  const violations = await rendering.findViolations(texts, callerKey(caller));
  if (name === '') {
    violations.unshift({ pointer: '#/name', code: 'too_short', detail: 'must have a character that is not a space' });
  }
  if (violations.length > 0) throw invalidInput(violations);
}
