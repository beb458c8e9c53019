import type { HttpBody } from '@ticketing/contracts/ticketing/api/v1/http_body_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { bodyHead, bodyPiece } from '@ticketing/rest/routes/http-body.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { callerKey } from '@ticketing/service-kit/identity/caller.ts';
import { chooseDownload, type DownloadedFile } from './download.ts';
import type { FileContext } from './file-context.ts';

/**
 * Sends a file, or the part of it that the header `Range` names.
 *
 * Errors: range_not_satisfiable.
 * Source: docs/reference/api.md, Attachments.
 */
export async function* sendFile(
  { files, fileReads }: Pick<FileContext, 'files' | 'fileReads'>,
  call: Pick<Call, 'caller' | 'header' | 'setResponseHeader'>,
  attachment: DownloadedFile,
): AsyncGenerator<HttpBody> {
  const download = chooseDownload(attachment, {
    range: call.header('range'),
    ifRange: call.header('if-range'),
    ifNoneMatch: call.header('if-none-match'),
  });
  if (!download) {
    call.setResponseHeader('content-range', `bytes */${attachment.size}`);
    throw new DomainError('out_of_range', 'range_not_satisfiable', `The file has ${attachment.size} bytes.`);
  }
  const { status, headers, range } = download;
  yield bodyHead(attachment.contentType, headers, status);
  const pieces = files.read(attachment.key, range)[Symbol.asyncIterator]();
  try {
    for (;;) {
      // A slot is held while a piece is read, not while its client takes its time.
      const piece = await fileReads.run(callerKey(call.caller), () => pieces.next());
      if (piece.done) return;
      yield bodyPiece(piece.value);
    }
  } finally {
    await pieces.return?.();
  }
}
