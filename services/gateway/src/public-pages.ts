import { fastifySwagger } from '@fastify/swagger';
import { fastifySwaggerUi } from '@fastify/swagger-ui';
import { rejectOtherMethods } from '@ticketing/rest/rest-api.ts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ApiDescription } from './api-description.ts';
import { eventDescription } from './event-description.ts';

const docsPath = '/docs';
const publicPaths = new Set(['/healthz', '/readyz', '/openapi.json', '/asyncapi.json', docsPath]);

/** Whether the route of a request is public, that is, needs no credential. */
export function isPublic(request: FastifyRequest): boolean {
  const { url } = request.routeOptions;
  return url !== undefined && (publicPaths.has(url) || url.startsWith(`${docsPath}/`));
}

// Swagger UI sets style attributes and embeds its icons as data URLs.
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

// The picture of a paper ticket, instead of the icon of Swagger.
const icon = {
  filename: 'icon.svg',
  rel: 'icon',
  type: 'image/svg+xml',
  sizes: 'any',
  content:
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#1b6ac9" d="M1 3h9v2h1V3h4v3a2 2 0 0 0 0 4v3h-4v-2h-1v2H1v-3a2 2 0 0 0 0-4zm9 4h1v2h-1z"/></svg>',
};

/** Registers the descriptions of API and events: `/openapi.json`, `/asyncapi.json`, and the reference page `/docs`, which loads nothing from other hosts. */
export async function registerPublicPages(app: FastifyInstance, description: ApiDescription): Promise<void> {
  app.get('/openapi.json', async (_request, reply) => {
    await description.refresh();
    return reply.header('cache-control', 'no-cache').send(description.latest());
  });
  const events = JSON.stringify(eventDescription());
  app.get('/asyncapi.json', async (_request, reply) =>
    reply.header('cache-control', 'no-cache').type('application/json; charset=utf-8').send(events),
  );
  for (const path of ['/openapi.json', '/asyncapi.json']) rejectOtherMethods(app, path, ['GET']);
  for (const path of [docsPath, `${docsPath}/*`]) rejectOtherMethods(app, path, ['GET']);
  // The page requires this plugin. The document changes, so `transformSpecification` replaces it on each request.
  const placeholder = { openapi: '3.1.0', info: { title: '', version: '' }, paths: {} };
  await app.register(fastifySwagger, { mode: 'static', specification: { document: placeholder } });
  await app.register(fastifySwaggerUi, {
    routePrefix: docsPath,
    theme: { title: description.latest().info.title, favicon: [icon] },
    // The base layout has no top bar with the logo of Swagger and a field for the URL of another document.
    uiConfig: { layout: 'BaseLayout', validatorUrl: null, docExpansion: 'list', tryItOutEnabled: false },
    staticCSP: contentSecurityPolicy,
    uiHooks: { onRequest: async () => description.refresh() },
    transformSpecificationClone: false,
    transformSpecification: () => ({ ...description.latest() }),
  });
}
