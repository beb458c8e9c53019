import type { DescMethod } from '@bufbuild/protobuf';
import { findComments } from './comments.ts';

/** The statuses that problem documents of operations can have. */
export const problemStatuses = [
  400, 401, 403, 404, 409, 410, 412, 413, 415, 416, 422, 429, 431, 500, 502, 503, 504,
] as const;

/** A status that a problem document can have. */
export type ProblemStatus = (typeof problemStatuses)[number];

/**
 * The codes with which an operation may respond although its contract does not name them: those of the credential, of
 * the form of the request, of the rules of its fields, of the limits of use, and of parts that are unavailable.
 *
 * Source: docs/reference/api.md, Errors; docs/reference/api.md, Limits of use.
 */
export const generalCodes: Record<ProblemStatus, readonly string[]> = {
  400: [
    ...['invalid_input', 'invalid_argument', 'malformed_request', 'malformed_json', 'malformed_message'],
    ...['invalid_query', 'invalid_date', 'invalid_format', 'invalid_text', 'invalid_value', 'invalid_idempotency_key'],
    ...['required', 'not_allowed', 'null_not_allowed', 'read_only_field', 'unknown_field'],
    ...['wrong_type', 'out_of_range', 'too_long', 'too_short', 'too_many_items', 'too_few_items', 'duplicate_item'],
    ...['duplicate_key', 'prototype_key', 'too_deep', 'too_complex', 'too_many_pieces'],
  ],
  401: ['unauthenticated', 'missing_token', 'invalid_token'],
  403: ['missing_right', 'services_only', 'cross_site_request'],
  404: [],
  409: ['concurrent_change', 'idempotency_key_running'],
  410: [],
  412: ['stale_version'],
  413: ['body_too_large'],
  415: ['unsupported_media_type', 'unsupported_encoding'],
  416: ['range_not_satisfiable'],
  422: ['idempotency_key_reused'],
  429: ['rate_limited', 'too_many_at_once', 'idempotency_budget_exceeded'],
  431: ['headers_too_large'],
  500: ['internal'],
  502: ['upstream_failed'],
  503: [
    ...['store_unavailable', 'storage_full', 'bus_unavailable', 'issuer_unavailable', 'dependency_unavailable'],
    'upstream_unavailable',
    ...['too_much_at_once', 'bodies_in_flight', 'sandbox_busy', 'sandbox_crashed', 'sandbox_closed', 'not_ready'],
    'service_stopping',
    ...['json_crashed', 'json_closed'],
  ],
  504: ['deadline_exceeded', 'request_timeout', 'timeout'],
};

/**
 * Returns the codes that the contract of a method names: those in the paragraph of its comment that begins with
 * "Errors:".
 */
export function namedCodes(method: DescMethod): string[] {
  const paragraphs = findComments(method).text.split('\n\n');
  const errors = paragraphs.filter((paragraph) => paragraph.startsWith('Errors:'));
  return [
    ...new Set(errors.flatMap((paragraph) => [...paragraph.matchAll(/`([a-z_]+)`/g)].map(([, code = '']) => code))),
  ];
}
