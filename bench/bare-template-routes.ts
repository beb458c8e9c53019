import { Agent, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { FastifyInstance } from 'fastify';
import Handlebars from 'handlebars';

/** A preview of the system, and where the tickets service gives out the values by RPC. */
export interface BarePreview {
  message: string;
  ticketId: number;
  valuesUrl: string;
}

const agent = new Agent({ keepAlive: true });

/** Adds the bare route for previews: it reads the values where the system does, and renders them by Handlebars alone. */
export function addTemplateRoutes(app: FastifyInstance): void {
  const compiled = new Map<string, HandlebarsTemplateDelegate>();
  app.post<{ Body: BarePreview }>('/template/preview', async ({ body, headers }) => {
    const { message, ticketId, valuesUrl } = body;
    const variables = await readValues(valuesUrl, headers.authorization ?? '', ticketId);
    const render = compiled.get(message) ?? Handlebars.compile(message);
    compiled.set(message, render);
    return { success: true, preview: render(variables), variables };
  });
}

async function readValues(url: string, authorization: string, ticketId: number): Promise<unknown> {
  const headers = { authorization, 'content-type': 'application/json' };
  const body = await new Promise<Buffer>((resolve, reject) => {
    const call = request(url, { method: 'POST', agent, headers }, (response) => resolve(buffer(response)));
    call.on('error', reject);
    call.end(JSON.stringify({ ticketId }));
  });
  const { variables } = JSON.parse(body.toString()) as { variables: string };
  return JSON.parse(Buffer.from(variables, 'base64').toString());
}
