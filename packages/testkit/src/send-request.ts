import type { CheckedFetch } from './checked-fetch.ts';

/** The body and headers of a test's request. */
export interface TestRequest {
  /** A string is sent as it is, anything else as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
}

/** A response whose body was read. */
export interface TestResponse {
  status: number;
  headers: Headers;
  bytes: Buffer;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  json: any;
}

/** Sends a request with a `fetch` that checks the response, and reads the whole body. */
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
