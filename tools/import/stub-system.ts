import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isObject, type JsonObject, objectsIn, parseJson } from './json.ts';

interface StubResponse {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
}

/** The response of a test in place of the stub's own; undefined for the stub's own, 'reset' to break the connection. */
export type Override = (call: StubCall) => StubResponse | 'reset' | undefined;

/** A request that the stub has received. */
export interface StubCall {
  /** Method and path, without the query. */
  what: string;
  query: URLSearchParams;
  body: JsonObject;
  authorization: string;
}

/** A server that accepts and keeps every ticket and tag, for tests of clients. */
export class StubSystem {
  readonly tickets = new Map<string, JsonObject>();
  /** The messages by their external ids, with the ticket of each. */
  readonly messages = new Map<string, { ticketId: number; body: JsonObject }>();
  readonly tags: { id: number; name: string; fullName: string; parent: number | null }[] = [];
  readonly calls: StubCall[] = [];
  override: Override = () => undefined;
  /** The error of a ticket, which has the pointer. */
  refuse: (ticket: JsonObject, pointer: string) => JsonObject | undefined = () => undefined;
  /** The error of a message of a ticket. */
  refuseMessage: (message: JsonObject) => JsonObject | undefined = () => undefined;
  url = '';
  readonly #server = createServer((request, response) => this.#serve(request, response));

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const { port } = this.#server.address() as AddressInfo;
    this.url = `http://127.0.0.1:${port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** How often an operation was called. */
  countMatching(what: string): number {
    return this.calls.filter((call) => call.what === what).length;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const url = new URL(request.url ?? '/', 'http://stub');
    const parsed = parseJson(Buffer.concat(parts).toString());
    const body = isObject(parsed) ? parsed : {};
    const authorization = request.headers.authorization ?? '';
    const call = { what: `${request.method} ${url.pathname}`, query: url.searchParams, body, authorization };
    this.calls.push(call);
    const stubbed = this.override(call) ?? this.#respond(call);
    if (stubbed === 'reset') request.socket.resetAndDestroy();
    else response.writeHead(stubbed.status, stubbed.headers).end(JSON.stringify(stubbed.body ?? {}));
  }

  #respond(call: StubCall): StubResponse {
    if (call.what === 'POST /ticket/search') return { status: 200, body: { tickets: this.#search(call.body) } };
    if (call.what === 'POST /tag') return this.#createTag(String(call.body.name));
    if (call.what === 'GET /tag') return this.#listTags(call.query);
    const [, ticketId] = /^POST \/ticket\/(\d+)\/conversation\/store$/.exec(call.what) ?? [];
    if (ticketId !== undefined) return this.#storeMessage(Number(ticketId), call.body);
    if (call.what !== 'POST /ticket/bulk') return { status: 404 };
    const results = objectsIn(call.body, 'tickets').map((ticket, nth) => this.#createTicket(ticket, nth));
    return { status: 200, body: { success: true, results } };
  }

  #createTicket({ messages, ...ticket }: JsonObject, nth: number): JsonObject {
    const refusal = this.refuse(ticket, `#/tickets/${nth}`);
    if (refusal) return { success: false, id: null, error: refusal };
    this.tickets.set(String(ticket.externalTicketId), ticket);
    const id = this.tickets.size;
    for (const message of objectsIn({ messages }, 'messages')) {
      const error = this.refuseMessage(message);
      if (error) return { success: false, id, error };
      this.#storeMessage(id, message);
    }
    return { success: true, id };
  }

  #search(body: JsonObject): JsonObject[] {
    const filter: unknown = Array.isArray(body.filters) ? body.filters[0] : undefined;
    const values: unknown[] = isObject(filter) && Array.isArray(filter.values) ? filter.values : [];
    const ids = [...this.tickets.keys()];
    return ids.flatMap((externalTicketId, index) =>
      values.includes(externalTicketId) ? [{ id: index + 1, externalTicketId }] : [],
    );
  }

  #storeMessage(ticketId: number, body: JsonObject): StubResponse {
    const id = String(body.externalConversationId);
    if (!this.messages.has(id)) this.messages.set(id, { ticketId, body });
    return { status: 201, body: { success: true } };
  }

  #createTag(name: string): StubResponse {
    if (this.tags.some((tag) => tag.name.toLowerCase() === name.toLowerCase())) return { status: 409 };
    const tag = { id: this.tags.length + 1, name, fullName: name, parent: null };
    this.tags.push(tag);
    return { status: 200, body: { success: true, id: tag.id } };
  }

  #listTags(query: URLSearchParams): StubResponse {
    const q = (query.get('q') ?? '').toLowerCase();
    const offset = Number(query.get('offset'));
    const found = this.tags.filter((tag) => tag.name.toLowerCase().includes(q));
    const tags = found.slice(offset, offset + Number(query.get('limit')));
    return { status: 200, body: { success: true, tags, total: found.length } };
  }
}
