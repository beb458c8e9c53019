import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';

/** How a receiver of webhooks responds. */
export interface ListenerOptions {
  /** The secret of the endpoint, `whsec_…`. */
  secret: string;
  /** The status of the response to a delivery that is verified. */
  status: number;
  /** The share of verified deliveries, from 0 to 1, that get 500 instead. */
  failRate: number;
}

/** Deliveries have less than 20 kB. */
const maxBodyBytes = 64 * 1024;

/**
 * Makes a server that verifies the deliveries of a webhook endpoint, and prints a line for each: time, type, ticket and
 * version, webhook-id, whether it is verified, and the response. A delivery that cannot be verified gets 401.
 *
 * Errors: an Error for a secret that is not one.
 */
export function webhookListener({ secret, status, failRate }: ListenerOptions, print: (line: string) => void): Server {
  const webhook = new Webhook(secret);
  const server = createServer(async (request, response) => {
    const body = await readBody(request).catch(() => 'ended' as const);
    // The sender has closed the connection before the body was complete.
    if (body === 'ended') return;
    const problem = readProblem(webhook, request, body);
    const sent = problem?.status ?? (Math.random() < failRate ? 500 : status);
    print(renderLine(request, body, problem?.detail ?? 'verified', sent));
    respond(response, sent);
  });
  server.requestTimeout = 15_000;
  return server;
}

/** Reads the body; undefined if it is too large. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const parts: Buffer[] = [];
  let size = 0;
  // Leaving the loop must not end the connection before the response is sent.
  for await (const part of request.iterator({ destroyOnReturn: false })) {
    size += part.length;
    if (size > maxBodyBytes) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

interface Problem {
  status: number;
  detail: string;
}

function readProblem(webhook: Webhook, { method, headers }: IncomingMessage, body?: Buffer): Problem | undefined {
  if (method !== 'POST') return { status: 405, detail: 'not a POST request' };
  if (!body) return { status: 413, detail: `a body of more than ${maxBodyBytes / 1024} KiB` };
  try {
    webhook.verify(body, headers as Record<string, string>, { jsonParse: false });
    return undefined;
  } catch (error) {
    return { status: 401, detail: `not verified: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function renderLine({ headers }: IncomingMessage, body: Buffer | undefined, result: string, status: number): string {
  const { type, ticket } = toContent(body);
  const id = shown(headers['webhook-id']);
  return `${new Date().toISOString()}  ${type.padEnd(22)}  ${ticket.padEnd(14)}  ${id}  ${result} → ${status}`;
}

/** The type and the ticket that a body names; the body may not be verified. */
function toContent(body: Buffer | undefined): { type: string; ticket: string } {
  const { type, data } = objectIn(body);
  const { ticketId, version } = typeof data === 'object' && data !== null ? (data as Record<string, unknown>) : {};
  const ticket = Number.isInteger(ticketId) ? `ticket ${ticketId} v${Number(version)}` : '-';
  return { type: shown(type), ticket };
}

function objectIn(body: Buffer | undefined): Record<string, unknown> {
  try {
    return Object(JSON.parse(body?.toString() ?? ''));
  } catch {
    return {};
  }
}

/** A text of the sender. One that could move the cursor of a terminal is not shown. */
function shown(text: unknown): string {
  return typeof text === 'string' && /^[\w.-]{1,64}$/.test(text) ? text : '-';
}

function respond(response: ServerResponse, status: number): void {
  // The server does not wait for the unread rest of a body.
  if (status === 413) response.setHeader('connection', 'close');
  response.writeHead(status).end();
}
