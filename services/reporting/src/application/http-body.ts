import type { HttpBody } from '@ticketing/contracts/ticketing/api/v1/http_body_pb.ts';

/** The first part of an answer: what it is. */
export function headOf(contentType: string, headers: Record<string, string>, status = 0): HttpBody {
  return { $typeName: 'ticketing.api.v1.HttpBody', contentType, data: new Uint8Array(), status, headers };
}

/** A further part of an answer. */
export function pieceOf(data: Uint8Array): HttpBody {
  return { $typeName: 'ticketing.api.v1.HttpBody', contentType: '', data, status: 0, headers: {} };
}

/** The header that lets a client keep an answer as a file. */
export function attachment(fileEnding: string, createdAt: Date): Record<string, string> {
  const name = `reporting_tickets_${createdAt.toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z.${fileEnding}`;
  return { 'content-disposition': `attachment; filename="${name}"`, 'x-content-type-options': 'nosniff' };
}
