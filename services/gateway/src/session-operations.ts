import type { JsonObject } from '@bufbuild/protobuf';
import { type OpenApiDocument, type OpenApiOperation, openApiDocument } from '@ticketing/rest/openapi.ts';
import { sessionPath } from './session-routes.ts';
import { upstreams } from './upstreams.ts';

const info = { title: 'Ticketing API', version: '1' };
/** The statuses with which the gateway refuses a request by itself. */
const refusals = ['401', '403', '429', '500', '503'];

/** The part of the API's description that is the gateway's own. */
export function sessionDocument(): OpenApiDocument {
  const own = openApiDocument({ ...info, served: [] });
  const { components, responses } = problems(['400', ...refusals]);
  const operation = (
    about: Pick<OpenApiOperation, 'operationId' | 'summary' | 'security'>,
    statuses: readonly string[],
  ): OpenApiOperation => ({
    ...about,
    tags: ['Session'],
    responses: { 200: success, ...pick(responses, (status) => statuses.includes(status)) },
  });
  const creation = {
    operationId: 'createSession',
    summary: 'Sets the session cookie from a bearer token; the cookie lasts as long as the token.',
    security: [{ bearerAuth: [] }],
  };
  own.tags.push({ name: 'Session', description: 'Keeps the token of a browser in a cookie.' });
  own.components = { ...own.components, ...components };
  own.paths[sessionPath] = {
    // 400 is for a token that is too long for a cookie.
    post: operation(creation, ['400', ...refusals]),
    delete: operation({ operationId: 'deleteSession', summary: 'Clears the session cookie.' }, refusals),
  };
  return own;
}

const success: JsonObject = {
  description: 'Done.',
  headers: { 'Set-Cookie': { description: 'The session cookie.', required: true, schema: { type: 'string' } } },
  content: {
    'application/json': {
      schema: { type: 'object', properties: { success: { type: 'boolean', const: true } }, required: ['success'] },
    },
  },
};

interface Problems {
  components: Pick<OpenApiDocument['components'], 'schemas' | 'responses'>;
  /** References to the components, by status. */
  responses: Record<string, JsonObject>;
}

/** How problems are described: as the contracts have it, so that the parts of all services fit together. */
function problems(statuses: readonly string[]): Problems {
  const served = upstreams.flatMap(({ contracts }) =>
    contracts.map((service) => ({ service, handlers: new Map(service.methods.map((method) => [method, null])) })),
  );
  const { components, paths } = openApiDocument({ ...info, served });
  const operations = Object.values(paths).flatMap((verbs) => Object.values(verbs));
  const described = Object.assign({}, ...operations.map(({ responses }) => responses)) as Record<string, JsonObject>;
  const responses = pick(described, (status) => statuses.includes(status));
  const references = Object.values(responses).map(({ $ref }) => String($ref));
  return {
    responses,
    components: {
      responses: pick(components.responses, (name) => references.some((reference) => reference.endsWith(`/${name}`))),
      schemas: pick(components.schemas, (name) => name === 'Problem' || name === 'Violation'),
    },
  };
}

function pick<Value>(from: Record<string, Value>, isWanted: (name: string) => boolean): Record<string, Value> {
  return Object.fromEntries(Object.entries(from).filter(([name]) => isWanted(name)));
}
