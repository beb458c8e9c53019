import { DomainError } from '@ticketing/errors/domain-error.ts';
import { expect } from 'vitest';
import { hostileTemplates } from '../../test/hostile-templates.ts';

/** Where the tests say that a template is in its request. */
export const pointer = '#/message';

/** A message that is rendered alone. */
export const toInput = (template: string, variables: object) => ({
  message: template,
  variables: Buffer.from(JSON.stringify(variables)),
  pointer,
});

/** A template that takes longer than any limit, without much memory. */
export function endlessInput() {
  const slow = hostileTemplates.find(({ name }) => name === 'loops in loops without output');
  return toInput(slow?.template ?? '', slow?.variables ?? {});
}

/** Returns the error codes of work on a template; none if it was done. */
export async function listCodes(work: Promise<unknown>): Promise<string[]> {
  try {
    await work;
    return [];
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return error.violations.map(({ code, pointer: at, detail }) => {
      expect(at).toBe(pointer);
      expect(detail).toMatch(/^(Line \d+, column \d+: |The template ).+\.$/);
      return code;
    });
  }
}
