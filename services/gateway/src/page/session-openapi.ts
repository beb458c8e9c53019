import type { JsonObject } from '@bufbuild/protobuf';
import { type OpenApiDocument, type OpenApiOperation, openApiDocument } from '@ticketing/rest/documents/openapi.ts';
import { upstreams } from '../request/upstreams.ts';
import { sessionPath } from '../session/routes.ts';
import { introduction } from './introduction.ts';

export const apiTitle = 'Ticketing API';
const info = { title: apiTitle, version: '1', description: introduction };
/** The error statuses with which the gateway itself responds on every path. */
const errorStatuses = ['401', '403', '415', '429', '431', '500', '503'];

/** Returns the OpenAPI document of the session endpoints, which the gateway serves itself. */
export function sessionDocument(): OpenApiDocument {
  const document = openApiDocument({ ...info, served: [] });
  const { components, responses } = problems(['400', ...errorStatuses]);
  const operation = (
    description: Pick<OpenApiOperation, 'operationId' | 'summary' | 'security' | 'x-problem-codes'>,
    statuses: readonly string[],
  ): OpenApiOperation => ({
    ...description,
    tags: ['Session cookie'],
    responses: { 200: success, ...pick(responses, (status) => statuses.includes(status)) },
  });
  const creation = {
    operationId: 'createSession',
    summary: 'Sets the session cookie from a bearer token; the cookie expires with the token.',
    security: [{ bearerAuth: [] }],
    'x-problem-codes': ['token_too_long'],
  };
  document.tags.push({ name: 'Session cookie', description: 'Stores the token of a browser in a cookie.' });
  document.components = { ...document.components, ...components };
  document.paths[sessionPath] = {
    post: operation(creation, ['400', ...errorStatuses]),
    delete: operation({ operationId: 'deleteSession', summary: 'Clears the session cookie.' }, errorStatuses),
  };
  return document;
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

/** Describes problem documents exactly as the services do, so that the documents can be merged. */
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
