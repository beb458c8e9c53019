import { invalidInput } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { ifFound } from '@ticketing/service-kit/client/if-found.ts';
import type { Context } from '../context.ts';
import { unknownTemplate } from './rules/email-template-reference.ts';

/**
 * Refuses the id of an e-mail template that does not exist.
 *
 * Errors: unknown_template at the pointer; those of the templates service.
 */
export async function requireTemplate(context: Context, call: Call, id: number, pointer: string): Promise<void> {
  if (!(await ifFound(context.emailTemplates(call).getEmailTemplate({ id })))) throw unknownTemplate(pointer);
}

/** Refuses the id of a tag that does not exist. Errors: unknown_tag at the pointer; those of the tickets service. */
export async function requireTag(context: Context, call: Call, id: number, pointer: string): Promise<void> {
  if (await ifFound(context.tags(call).getTag({ id }))) return;
  throw invalidInput([{ pointer, code: 'unknown_tag', detail: 'There is no such tag.' }]);
}
