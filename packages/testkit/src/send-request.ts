import type { CheckedFetch } from './checked-fetch.ts';

/** What a request of a test says. */
export interface TestRequest {
  /** An object is sent as JSON, a text as it is. */
  body?: unknown;
  headers?: Record<string, string>;
}

/** A response, read to its end. */
export interface TestResponse {
  status: number;
  headers: Headers;
  bytes: Buffer;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  json: any;
}

/** Sends a request by a `fetch` that checks the response, and reads the whole response. */
export async function sendRequest(
  fetch: CheckedFetch,
  url: string,
  method: string,
  path: string,
  { body, headers = {} }: TestRequest = {},
): Promise<TestResponse> {
  const response = await fetch(url + path, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const text = bytes.toString();
  const isJson = response.headers.get('content-type')?.includes('json') === true && text !== '';
  return {
    status: response.status,
    headers: response.headers,
    bytes,
    text,
    json: isJson ? JSON.parse(text) : undefined,
  };
}
