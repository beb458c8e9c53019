import type { OpenApiDocument } from '@ticketing/rest/openapi.ts';
import { type ResponseCheck, responseChecker } from './response-check.ts';

/** Like `fetch`, but throws where a response is not as the OpenAPI document says. */
export type CheckedFetch = (url: string, request?: RequestInit) => Promise<Response>;

/** Makes a `fetch` that checks every response against the OpenAPI document at a URL, read at the first request. */
export function checkedFetch(documentUrl: string): CheckedFetch {
  let check: Promise<ResponseCheck> | undefined;
  return async (url, request = {}) => {
    const response = await fetch(url, request);
    check ??= readDocument(documentUrl).then(responseChecker);
    const body = new Uint8Array(await response.clone().arrayBuffer());
    const { method = 'GET' } = request;
    const { status, headers } = response;
    (await check)({ method, path: url.slice(new URL(url).origin.length), status, headers, body });
    return response;
  };
}

async function readDocument(url: string): Promise<OpenApiDocument> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} responded with ${response.status}`);
  return (await response.json()) as OpenApiDocument;
}
