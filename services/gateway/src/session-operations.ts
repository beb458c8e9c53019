import type { JsonObject } from '@bufbuild/protobuf';
import { type OpenApiDocument, type OpenApiOperation, openApiDocument } from '@ticketing/rest/openapi.ts';
import { sessionPath } from './session-routes.ts';
import { upstreamContracts } from './upstreams.ts';

const info = { title: 'Ticketing', version: '1' };

/** The part of the API's description that is the gateway's own. */
export function sessionDocument(): OpenApiDocument {
  const own = openApiDocument({ ...info, served: [] });
  own.tags.push({ name: 'Session', description: 'Keeps the token of a browser in a cookie.' });
  own.components = { ...own.components, ...problemComponents() };
  own.paths[sessionPath] = {
    post: operation({
      operationId: 'createSession',
      summary: 'Sets the session cookie from a bearer token; the cookie lasts as long as the token.',
      security: [{ bearerAuth: [] }],
    }),
    delete: operation({ operationId: 'deleteSession', summary: 'Clears the session cookie.' }),
  };
  return own;
}

const problems = { 401: 'Unauthenticated', 403: 'Unauthorized', 429: 'TooManyRequests', 500: 'InternalError' };

function operation(about: Pick<OpenApiOperation, 'operationId' | 'summary' | 'security'>): OpenApiOperation {
  const references = Object.entries(problems).map(([status, name]): [string, JsonObject] => [
    status,
    { $ref: `#/components/responses/${name}` },
  ]);
  return { ...about, tags: ['Session'], responses: { 200: success, ...Object.fromEntries(references) } };
}

const success: JsonObject = {
  description: 'Done.',
  headers: { 'Set-Cookie': { description: 'The session cookie.', schema: { type: 'string' } } },
  content: {
    'application/json': {
      schema: { type: 'object', properties: { success: { type: 'boolean', const: true } }, required: ['success'] },
    },
  },
};

/** The components that problems are described by, as every service has them in its own document. */
function problemComponents(): Pick<OpenApiDocument['components'], 'schemas' | 'responses'> {
  const [service] = upstreamContracts.flatMap(({ services }) => services);
  if (!service) return { schemas: {}, responses: {} };
  const handlers = new Map(service.methods.map((method) => [method, null]));
  const { schemas, responses } = openApiDocument({ ...info, served: [{ service, handlers }] }).components;
  const chosen = <Component>(from: Record<string, Component>, names: readonly string[]) =>
    Object.fromEntries(Object.entries(from).filter(([name]) => names.includes(name)));
  return {
    schemas: chosen(schemas, ['Problem', 'Violation']),
    responses: chosen(responses, Object.values(problems)),
  };
}
