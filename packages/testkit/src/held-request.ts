import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';

/** A request over HTTP/1.1 whose body may be left without its end. */
export interface HeldRequest {
  port: number;
  method: string;
  path: string;
  headers?: Readonly<Record<string, string>>;
  body: Uint8Array;
  /** How many bytes of the announced length are not sent; undefined sends the whole body. */
  heldBytes?: number | undefined;
  /** Gives up waiting for a response. */
  signal?: AbortSignal;
}

/** The response to a held request. */
export interface HeldResponse {
  /** Undefined if the connection ended without a response. */
  status: number | undefined;
  headers: IncomingHttpHeaders;
  text: string;
  /** Whether the service has asked for the body with `100 Continue`. */
  isContinued: boolean;
}

/**
 * Sends a request on a separate connection; its body waits for `100 Continue` if it expects one. Resolves
 * when the response has ended, or the connection.
 */
export function heldRequest({ heldBytes, body, signal, headers, ...address }: HeldRequest): Promise<HeldResponse> {
  const { promise, resolve } = Promise.withResolvers<HeldResponse>();
  const length = { 'content-length': body.length + (heldBytes ?? 0) };
  const sent = httpRequest({ ...address, agent: false, headers: { ...headers, ...length }, ...(signal && { signal }) });
  let isContinued = false;
  sent.once('continue', () => {
    isContinued = true;
  });
  const settle = (part: Partial<HeldResponse>) =>
    resolve({ status: undefined, headers: {}, text: '', isContinued, ...part });
  sent.on('response', (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('close', () => {
      settle({
        status: response.statusCode,
        headers: response.headers,
        text: Buffer.concat(chunks).toString('latin1'),
      });
      sent.destroy();
    });
  });
  sent.on('error', () => settle({}));
  const sendBody = () => {
    if (heldBytes === undefined) sent.end(body);
    else sent.write(body);
  };
  if (headers?.expect === undefined) sendBody();
  else sent.on('continue', sendBody).flushHeaders();
  return promise;
}
