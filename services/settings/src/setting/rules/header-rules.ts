import type { JsonValue } from '@bufbuild/protobuf';
import { escapePointer } from '@ticketing/rest/codec/scan-json.ts';
import { isObject, type ValueProblem } from './business-hours.ts';

const maxHeaders = 50;
const maxValues = 20;
const maxLength = 320;
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;

/**
 * Returns the problems of a value of the setting `programmaticHeaderRules`; empty if it is valid.
 *
 * Shape: `{"Auto-Submitted": ["!no"], "X-Loop": true}`.
 * Source: docs/reference/api.md, Spam.
 */
export function headerRuleProblems(value: JsonValue): ValueProblem[] {
  if (!isObject(value)) return [{ at: '', detail: 'must be an object with headers' }];
  const headers = Object.entries(value);
  if (headers.length > maxHeaders) return [{ at: '', detail: `may have ${maxHeaders} headers` }];
  return headers.flatMap(([name, rule]) => {
    const at = `/${escapePointer(name)}`;
    if (!headerName.test(name)) return [{ at, detail: 'is not the name of a header' }];
    return rule === true || areTexts(rule) ? [] : [{ at, detail: `must be true or 1 to ${maxValues} texts` }];
  });
}

function areTexts(value: JsonValue): boolean {
  return (
    Array.isArray(value) &&
    value.length >= 1 &&
    value.length <= maxValues &&
    value.every((text) => typeof text === 'string' && text !== '' && text.length <= maxLength)
  );
}
