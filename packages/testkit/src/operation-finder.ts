import type { OpenApiDocument, OpenApiOperation } from '@ticketing/rest/documents/openapi.ts';
import type { Schema } from '@ticketing/rest/documents/openapi-schema.ts';

/** A response of an operation in an OpenAPI document. */
export interface ListedResponse {
  /** The codes of its problem documents; undefined if the document lists none. */
  codes?: readonly string[];
  headers?: Record<string, { required?: boolean; schema: Schema }>;
  content?: Record<string, { schema: Schema }>;
}

/** The responses that an operation lists, by status. */
export type ListedResponses = Record<string, ListedResponse>;

/** The operations of one path in an OpenAPI document. */
export interface PathOperations {
  /** The methods of the path; with GET also HEAD. */
  methods: readonly string[];
  /** The responses of a method; for HEAD those of GET. */
  findResponses(method: string): ListedResponses | undefined;
}

interface Entry {
  segments: readonly string[];
  operations: PathOperations;
}

/** Finds the operations for the path of a request. If two path templates fit, the one with fewer parameters is used. */
export function operationFinder(document: OpenApiDocument): (path: string) => PathOperations | undefined {
  const entries = Object.entries(document.paths).map(
    ([path, operations]): Entry => ({ segments: path.split('/'), operations: pathOperations(document, operations) }),
  );
  entries.sort((one, other) => listParameters(one) - listParameters(other));
  return (path) => {
    const segments = path.split('/').map(decodeSegment);
    return entries.find((entry) => fits(entry, segments))?.operations;
  };
}

function pathOperations(document: OpenApiDocument, operations: Record<string, OpenApiOperation>): PathOperations {
  const responses = new Map(
    Object.entries(operations).map(([verb, operation]) => [verb.toUpperCase(), listedResponses(document, operation)]),
  );
  const ofGet = responses.get('GET');
  if (ofGet) responses.set('HEAD', ofGet);
  return { methods: [...responses.keys()], findResponses: (method) => responses.get(method) };
}

function listedResponses(document: OpenApiDocument, { responses, ...operation }: OpenApiOperation): ListedResponses {
  const resolved = Object.entries(responses).map(([status, response]) => {
    if (typeof response.$ref !== 'string') return [status, response];
    const component = document.components.responses[response.$ref.replace('#/components/responses/', '')];
    if (!component) throw new Error(`the document refers to ${response.$ref}, which it does not have`);
    const general = component['x-problem-codes'];
    const codes = Array.isArray(general) ? { codes: [...general, ...(operation['x-problem-codes'] ?? [])] } : {};
    return [status, { ...component, ...codes }];
  });
  return Object.fromEntries(resolved);
}

function listParameters({ segments }: Entry): number {
  return segments.filter(isParameter).length;
}

function isParameter(segment: string): boolean {
  return segment.startsWith('{');
}

function fits({ segments }: Entry, path: readonly string[]): boolean {
  if (segments.length !== path.length) return false;
  return segments.every((segment, index) => isParameter(segment) || segment === path[index]);
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
