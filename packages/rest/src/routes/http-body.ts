import type { HttpBody } from '@ticketing/contracts/ticketing/api/v1/http_body_pb.ts';

/**
 * Returns the first message of a streamed response: its content type, headers and status, without bytes. Status 0 means 200.
 */
export function bodyHead(contentType: string, headers: Record<string, string>, status = 0): HttpBody {
  return { $typeName: 'ticketing.api.v1.HttpBody', contentType, data: new Uint8Array(), status, headers };
}

/** Returns a further message of a streamed response: the next bytes of its body. */
export function bodyPiece(data: Uint8Array): HttpBody {
  return { $typeName: 'ticketing.api.v1.HttpBody', contentType: '', data, status: 0, headers: {} };
}

/** Returns the headers that make a browser save a response as a file. `fileName` is ASCII without quotes and backslashes. */
export function attachmentHeaders(fileName: string): Record<string, string> {
  return { 'content-disposition': `attachment; filename="${fileName}"`, 'x-content-type-options': 'nosniff' };
}
