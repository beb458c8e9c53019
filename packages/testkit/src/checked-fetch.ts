import type { OpenApiDocument } from '@ticketing/rest/documents/openapi.ts';
import { type ResponseCheck, responseChecker } from './response-check.ts';

/** Like `fetch`, but throws an error if a response differs from the OpenAPI document. */
export type CheckedFetch = (url: string, request?: RequestInit) => Promise<Response>;

/** Makes a `fetch` that checks every response against an OpenAPI document, which it reads after the first request. */
export function checkedFetch(documentUrl: string): CheckedFetch {
  let check: Promise<ResponseCheck> | undefined;
  return async (url, request = {}) => {
    const response = await fetch(url, request);
    check ??= documentCheck(documentUrl);
    const body = new Uint8Array(await response.clone().arrayBuffer());
    const { method = 'GET' } = request;
    const { status, headers } = response;
    (await check)({ method, path: url.slice(new URL(url).origin.length), status, headers, body });
    return response;
  };
}

/** Reads the OpenAPI document at a URL, and makes a check of responses against it. */
export async function documentCheck(url: string): Promise<ResponseCheck> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} responded with ${response.status}`);
  return responseChecker((await response.json()) as OpenApiDocument);
}
