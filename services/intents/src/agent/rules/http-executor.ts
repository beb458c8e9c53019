import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import type { AiExecutor } from '@ticketing/contracts/ticketing/intents/v1/ai_agent_service_pb.ts';
import type { Violation } from '@ticketing/errors/domain-error.ts';
import { escapePointer } from '@ticketing/rest/codec/scan-json.ts';
import type { SealedText, SecretBox } from '@ticketing/text/sealed-text.ts';

/** Calls a backend system. */
export interface HttpExecutorState {
  type: 'http';
  url: string;
  method: string;
  /** The encrypted values by the names of the headers, which differ in more than case. */
  headers: Readonly<Record<string, SealedText>>;
  /** The encrypted key that signs requests. */
  secret: SealedText | null;
  timeoutMs: number;
  /** JSON Pointers into the response by the parts of the outcome. */
  responseMapping: Readonly<Record<string, string>>;
}

/** The most headers of an executor. */
export const maxHeaders = 20;
/** The most characters of the value of a header. */
const maxHeaderLength = 4096;

const maxNameLength = 100;
const maxPointerLength = 320;
const defaultMethod = 'POST';
const defaultTimeoutMs = 10_000;

/** A header that the request sets itself, or that belongs to the connection instead of the request. */
const reservedHeader =
  /^(?:host|content-.*|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|proxy-.*|accept-encoding|date|idempotency-key|traceparent|tracestate|webhook-.*)$/;
const headerName = /^[!#$%&'*+.^_`|~\dA-Za-z-]+$/;
/** Visible ASCII, with spaces and tabs only between: no line break can start another header. */
const headerValue = /^[!-~](?:[\t -~]*[!-~])?$/;

const outcomeParts = ['responseCode', 'success', 'messageLocalized', 'message', 'messageType'];
const jsonPointer = /^(?:\/(?:[^~/]|~[01])*)*$/;

/** Returns the name to which the key for signatures is bound when it is encrypted. */
export function signatureBinding(id: number): string {
  return `aiAgent ${id} secret`;
}

/** Returns the name to which the value of a header is bound when it is encrypted. */
export function headerBinding(id: number, name: string): string {
  return `aiAgent ${id} header ${name.toLowerCase()}`;
}

/**
 * Decides the executor that calls a backend system; `known` is the previous one. `requireReferences` checks whether the
 * URL may be called.
 *
 * A header whose value is null keeps its stored value, but not for another server: an author of AI agents could
 * otherwise send the values to their own server and read them there.
 * Errors, as violations: required, too_many_items, invalid_header, duplicate_item, secret_required, unknown_field,
 * wrong_type, too_long, invalid_format.
 */
export function decideHttpExecutor(
  id: number,
  input: AiExecutor,
  known: HttpExecutorState | undefined,
  box: SecretBox,
): Decided<HttpExecutorState> {
  const { url = '', secret, headers = {}, responseMapping = {} } = input;
  const keepable = known && urlOrigin(known.url) === urlOrigin(url) ? known.headers : {};
  const sealed = sealHeaders(id, headers, keepable, box);
  const previousSecret = known?.secret ?? null;
  return {
    state: {
      type: 'http',
      url,
      method: input.method ?? defaultMethod,
      headers: sealed.state,
      secret: secret === undefined ? previousSecret : box.seal(secret, signatureBinding(id)),
      timeoutMs: input.timeoutMs ?? defaultTimeoutMs,
      responseMapping: responseMapping as Record<string, string>,
    },
    violations: [
      ...(input.url === undefined ? [missing('url')] : []),
      ...sealed.violations,
      ...mappingViolations(responseMapping),
    ],
  };
}

/** Returns the secrets of an executor, encrypted with the current key. */
export function sealAgain(id: number, state: HttpExecutorState, box: SecretBox): HttpExecutorState {
  const again = (text: SealedText, binding: string) => box.seal(box.open(text, binding), binding);
  const headers = Object.entries(state.headers).map(([name, text]) => [name, again(text, headerBinding(id, name))]);
  const { secret } = state;
  return {
    ...state,
    headers: Object.fromEntries(headers),
    secret: secret && again(secret, signatureBinding(id)),
  };
}

/** Returns all encrypted texts of an executor. */
export function sealedTexts({ headers, secret }: HttpExecutorState): SealedText[] {
  return [...Object.values(headers), ...(secret ? [secret] : [])];
}

function urlOrigin(url: string): string | undefined {
  return URL.parse(url)?.origin;
}

function sealHeaders(
  id: number,
  input: JsonObject,
  keepable: HttpExecutorState['headers'],
  box: SecretBox,
): Decided<HttpExecutorState['headers']> {
  const entries = Object.entries(input);
  if (entries.length > maxHeaders) {
    const detail = `has ${entries.length} headers, at most ${maxHeaders} are accepted`;
    return { state: {}, violations: [{ pointer: '#/executor/headers', code: 'too_many_items', detail }] };
  }
  const previous = new Map(Object.entries(keepable).map(([name, text]) => [name.toLowerCase(), text]));
  const violations: Violation[] = [];
  const headers: Record<string, SealedText> = {};
  const names = new Set<string>();
  for (const [name, value] of entries) {
    const folded = name.toLowerCase();
    const violation = headerViolation(name, value, names.has(folded), previous.has(folded));
    names.add(folded);
    const text = typeof value === 'string' ? box.seal(value, headerBinding(id, name)) : previous.get(folded);
    if (violation) violations.push({ pointer: `#/executor/headers/${escapePointer(name)}`, ...violation });
    else if (text) headers[name] = text;
  }
  return { state: headers, violations };
}

function headerViolation(
  name: string,
  value: JsonValue,
  isRepeated: boolean,
  isKept: boolean,
): Omit<Violation, 'pointer'> | undefined {
  if (name.length > maxNameLength || !headerName.test(name)) {
    return { code: 'invalid_header', detail: 'is not the name of a header' };
  }
  if (reservedHeader.test(name.toLowerCase())) return { code: 'invalid_header', detail: 'cannot be set' };
  if (isRepeated) return { code: 'duplicate_item', detail: 'is given twice' };
  if (value === null) return isKept ? undefined : { code: 'secret_required', detail: 'must have a value' };
  if (typeof value !== 'string') return { code: 'wrong_type', detail: 'must be a string' };
  if (value.length > maxHeaderLength) {
    return { code: 'too_long', detail: `must NOT have more than ${maxHeaderLength} characters` };
  }
  if (headerValue.test(value)) return undefined;
  return { code: 'invalid_header', detail: 'must be visible ASCII, with spaces only between' };
}

function mappingViolations(mapping: JsonObject): Violation[] {
  return Object.entries(mapping).flatMap(([part, pointer]): Violation[] => {
    const at = `#/executor/responseMapping/${escapePointer(part)}`;
    if (!outcomeParts.includes(part)) {
      return [{ pointer: at, code: 'unknown_field', detail: `must be one of: ${outcomeParts.join(', ')}` }];
    }
    if (typeof pointer !== 'string') return [{ pointer: at, code: 'wrong_type', detail: 'must be a string' }];
    if (pointer.length > maxPointerLength) {
      return [{ pointer: at, code: 'too_long', detail: `must NOT have more than ${maxPointerLength} characters` }];
    }
    return jsonPointer.test(pointer) ? [] : [{ pointer: at, code: 'invalid_format', detail: 'is not a JSON Pointer' }];
  });
}

/** A decision, which holds only if there are no violations. */
export interface Decided<State> {
  state: State;
  violations: readonly Violation[];
}

/** A member of an executor beside its type. */
export type ExecutorMember = Exclude<keyof AiExecutor, '$typeName' | '$unknown' | 'type'>;

/** Returns the violation for a missing member that the executor's type requires. */
export function missing(member: ExecutorMember): Violation {
  return { pointer: `#/executor/${member}`, code: 'required', detail: 'is required for this type' };
}
