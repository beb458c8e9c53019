import type { OpenApiDocument } from '@ticketing/rest/openapi.ts';
import { type ResponseCheck, responseChecker } from './response-check.ts';

/** Like `fetch`, but throws where a response is not as the OpenAPI document says. */
export type CheckedFetch = (url: string, request?: RequestInit) => Promise<Response>;

/** Makes a `fetch` that checks every response against the OpenAPI document at a URL, read at the first request. */
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

/** Reads the OpenAPI document at a URL, and makes the check of responses against it. */
export async function documentCheck(url: string): Promise<ResponseCheck> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} responded with ${response.status}`);
  return responseChecker((await response.json()) as OpenApiDocument);
}
