import { DomainError, invalidInput } from '@ticketing/errors/domain-error.ts';
import { maxFileBytes, maxMessageFileBytes, maxMessageFiles } from './attachment.ts';

/** Makes the error for too many files. */
export function tooManyFiles(pointer: string, detail = `must have at most ${maxMessageFiles} files`): DomainError {
  return tooLarge('too_many_attachments', pointer, detail);
}

/** Makes the error for a file that is too large. */
export function fileTooLarge(pointer: string): DomainError {
  return tooLarge('attachment_too_large', pointer, `must have at most ${maxFileBytes} bytes`);
}

/** Makes the error for files of one message that are too large together. */
export function filesTooLarge(pointer: string): DomainError {
  return tooLarge('attachments_too_large', pointer, `must have at most ${maxMessageFileBytes} bytes together`);
}

/** Makes the error for an attachment of a request that cannot be stored. */
export function invalidAttachment(pointer: string, detail: string): DomainError {
  return invalidInput([{ pointer, code: 'invalid_attachment', detail }]);
}

/** Makes the error for an attachment that does not exist, or whose owner does not. `owner` is what it would belong to. */
export function attachmentNotFound(owner: 'Ticket' | 'Template'): DomainError {
  return new DomainError('not_found', 'attachment_not_found', `${owner} or attachment not found`);
}

function tooLarge(code: string, pointer: string, detail: string): DomainError {
  const violations = [{ pointer, code, detail }];
  return new DomainError('resource_exhausted', code, `${pointer}: ${detail}`, { violations });
}
