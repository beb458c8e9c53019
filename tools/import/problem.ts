import type { ApiAnswer } from './http-transport.ts';
import { isObject, objectsIn, parseJson } from './json.ts';

/** Says in words why the server did not take a request: one reason for each pointer of its problem document. */
export function reasonsOf(answer: ApiAnswer): string[] {
  const problem = parseJson(answer.text);
  const pointed = objectsIn(problem, 'errors').map((error) => join([error.pointer, error.detail ?? error.code], ': '));
  const reasons = pointed.filter((reason) => reason !== '');
  return reasons.length > 0 ? reasons : [`${answer.status} ${detailOf(answer)}`.trim()];
}

/** Answers the public text of a problem document, with its trace for the answers that have no other. */
export function detailOf(answer: ApiAnswer): string {
  const problem = parseJson(answer.text);
  if (!isObject(problem)) return '';
  const trace = answer.status >= 500 && typeof problem.traceId === 'string' ? `trace ${problem.traceId}` : undefined;
  return join([problem.detail ?? problem.title ?? problem.code, trace], ', ');
}

function join(parts: unknown[], separator: string): string {
  return parts.filter((part) => typeof part === 'string' && part !== '').join(separator);
}
