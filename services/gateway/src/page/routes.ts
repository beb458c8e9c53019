import { type PublicDocument, publicJson, sendDocument } from '@ticketing/rest/routes/public-document.ts';
import { rejectOtherMethods } from '@ticketing/rest/routes/rest-api.ts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ApiDescription } from './api-description.ts';
import { eventDescription } from './event-description.ts';
import { docsPath, referencePage } from './reference.ts';

const publicPaths = new Set(['/healthz', '/readyz', '/openapi.json', '/asyncapi.json', docsPath]);

/** Whether the route of a request is public, that is, needs no credential. */
export function isPublic(request: FastifyRequest): boolean {
  const { url } = request.routeOptions;
  if (url === '/') return isBrowser(request);
  return url !== undefined && (publicPaths.has(url) || url.startsWith(`${docsPath}/`));
}

/** Browsers name HTML when a person opens an address; other clients do not. */
function isBrowser({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes('text/html') ?? false;
}

// Swagger UI sets style attributes and embeds its icons as data URLs.
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * Registers the descriptions of API and events, `/openapi.json` and `/asyncapi.json`, the reference page `/docs`, and the
 * way there from `/`. The responses share the bytes of each document.
 */
export function registerPublicPages(app: FastifyInstance, title: string, description: ApiDescription): void {
  serve(app, '/openapi.json', async () => {
    await description.refresh();
    return description.latest();
  });
  const events = publicJson(eventDescription());
  serve(app, '/asyncapi.json', () => events);
  for (const [path, document] of referencePage(title)) serve(app, path, () => document, contentSecurityPolicy);
  app.all(`${docsPath}/*`, (_request, reply) => reply.callNotFound());
  app.get('/', (request, reply) => (isBrowser(request) ? reply.redirect(docsPath) : reply.callNotFound()));
}

function serve(
  app: FastifyInstance,
  path: string,
  read: () => PublicDocument | Promise<PublicDocument>,
  policy?: string,
): void {
  app.get(path, async (_request, reply) => {
    if (policy !== undefined) reply.header('content-security-policy', policy);
    return sendDocument(reply, await read());
  });
  rejectOtherMethods(app, path, ['GET']);
}
