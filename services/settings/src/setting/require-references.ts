import { invalidInput } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { ifFound } from '@ticketing/service-kit/client/if-found.ts';
import type { SettingParts } from './open.ts';
import { unknownTemplate } from './rules/email-template-reference.ts';

/**
 * Refuses the id of an e-mail template that does not exist.
 *
 * Errors: unknown_template at the pointer; those of the templates service.
 */
export async function requireTemplate(
  { emailTemplates }: Pick<SettingParts, 'emailTemplates'>,
  call: Call,
  id: number,
  pointer: string,
): Promise<void> {
  if (!(await ifFound(emailTemplates(call).getEmailTemplate({ id })))) throw unknownTemplate(pointer);
}

/** Refuses the id of a tag that does not exist. Errors: unknown_tag at the pointer; those of the tickets service. */
export async function requireTag(
  { tags }: Pick<SettingParts, 'tags'>,
  call: Call,
  id: number,
  pointer: string,
): Promise<void> {
  if (await ifFound(tags(call).getTag({ id }))) return;
  throw invalidInput([{ pointer, code: 'unknown_tag', detail: 'There is no such tag.' }]);
}
