import type { AttachmentState } from '@ticketing/files/attachment.ts';
import { expect, test } from 'vitest';
import { shownAttachments } from '../computed-fields.ts';

// spec: 6.48
test('a ticket shows what is not inline, and PDF files', () => {
  const of = (contentType: string, inline: boolean) => ({ contentType, inline }) as AttachmentState;
  const shown = [of('image/png', false), of('application/pdf', true), of('application/pdf', false)];
  expect(shownAttachments([of('image/png', true), ...shown])).toEqual(shown);
});
