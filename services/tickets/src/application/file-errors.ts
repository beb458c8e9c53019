import { DomainError, invalidInput } from '@ticketing/errors/domain-error.ts';
import { maxFileBytes, maxMessageFileBytes, maxMessageFiles, maxTicketFiles } from '../domain/attachment.ts';

/** The error for a message with too many files. */
export function tooManyFiles(pointer: string): DomainError {
  return tooLarge('too_many_attachments', pointer, `must have at most ${maxMessageFiles} files`);
}

/** The error for a request that would add too many files to a ticket. */
export function ticketIsFull(pointer: string): DomainError {
  return tooLarge('too_many_attachments', pointer, `would give the ticket more than ${maxTicketFiles} files`);
}

/** The error for a file that is too large. */
export function fileTooLarge(pointer: string): DomainError {
  return tooLarge('attachment_too_large', pointer, `must have at most ${maxFileBytes} bytes`);
}

/** The error for files of one message that are too large together. */
export function filesTooLarge(pointer: string): DomainError {
  return tooLarge('attachments_too_large', pointer, `must have at most ${maxMessageFileBytes} bytes together`);
}

/** The error for an attachment of a request that cannot be stored. */
export function invalidAttachment(pointer: string, detail: string): DomainError {
  return invalidInput([{ pointer, code: 'invalid_attachment', detail }]);
}

/** The error for an attachment that the ticket and its messages do not have. */
export function attachmentNotFound(): DomainError {
  return new DomainError('not_found', 'attachment_not_found', 'Ticket or attachment not found');
}

function tooLarge(code: string, pointer: string, detail: string): DomainError {
  const violations = [{ pointer, code, detail }];
  return new DomainError('resource_exhausted', code, `${pointer}: ${detail}`, { violations });
}
