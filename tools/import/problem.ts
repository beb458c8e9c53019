import type { ApiResponse } from './http-transport.ts';
import { isObject, objectsIn, parseJson } from './json.ts';

/** Why the server refused a request: one sentence for each error in its problem document. */
export function listReasons(response: ApiResponse): string[] {
  const reasons = listErrors(parseJson(response.text));
  return reasons.length > 0 ? reasons : [`${response.status} ${describeResponse(response)}`.trim()];
}

/** Why a ticket of a bulk was refused. */
export function describeError(error: unknown): string[] {
  const reasons = listErrors(error);
  return reasons.length > 0 || !isObject(error) ? reasons : [join([error.code, error.detail], ': ')];
}

function listErrors(problem: unknown): string[] {
  const perPointer = objectsIn(problem, 'errors').map((error) =>
    join([error.pointer, error.detail ?? error.code], ': '),
  );
  return perPointer.filter((reason) => reason !== '');
}

/** The text of a problem document, or of an error of the RPC API; with the trace id if the status is 500 or above, to find the request in the log. */
export function describeResponse(response: ApiResponse): string {
  const problem = parseJson(response.text);
  if (!isObject(problem)) return '';
  const trace = response.status >= 500 && typeof problem.traceId === 'string' ? `trace ${problem.traceId}` : undefined;
  return join([problem.detail ?? problem.message ?? problem.title ?? problem.code, trace], ', ');
}

function join(parts: unknown[], separator: string): string {
  return parts.filter((part) => typeof part === 'string' && part !== '').join(separator);
}
