import type { JsonObject } from '@bufbuild/protobuf';
import { invalidInput, type Violation } from '@ticketing/errors/domain-error.ts';
import type { OptionState } from '../../agent/rules/agent.ts';
import { countValues, dataViolations } from '../../intent/rules/data.ts';

/** The option and the data of an execution. */
export interface ExecutionInput {
  /** Null if there are no options. */
  option: string | null;
  data: JsonObject;
}

/** The most values in the data: with more, the intents of a ticket would not fit into one message. */
export const maxDataValues = 8000;

/** The member of the data that chooses an option. */
const optionMember = '_action';

/**
 * Decides the option of an execution, by default the recommended one, and its data: the data of the intent, overwritten
 * by the members of the request.
 *
 * Errors: unknown_option, invalid_data. Source: docs/reference/api.md, Execution of an intent.
 */
export function executionInput(
  { data: intentData, options }: { data: JsonObject | null; options: readonly OptionState[] },
  requestData: JsonObject = {},
  schema: JsonObject | null = null,
): ExecutionInput {
  const { [optionMember]: choice, ...data } = { ...intentData, ...requestData };
  const option = choice ?? options.find(({ recommended }) => recommended)?.type ?? null;
  const isTooLarge = countValues(data) > maxDataValues;
  const violations = [
    ...(isTooLarge ? [tooLarge] : []),
    ...(isOption(option, options) ? [] : [unknownOption(options)]),
    ...(schema && !isTooLarge ? dataViolations(schema, data, '#/data') : []),
  ];
  if (violations.length > 0) throw invalidInput(violations);
  return { option: typeof option === 'string' ? option : null, data };
}

const tooLarge: Violation = {
  pointer: '#/data',
  code: 'invalid_data',
  detail: `has more than ${maxDataValues} values`,
};

function isOption(option: unknown, options: readonly OptionState[]): boolean {
  return options.length === 0 ? option === null : options.some(({ type }) => type === option);
}

function unknownOption(options: readonly OptionState[]): Violation {
  const known = options.map(({ type }) => type).join(', ');
  const detail = known === '' ? 'is not accepted: the intent has no options' : `must be one of: ${known}`;
  return { pointer: `#/data/${optionMember}`, code: 'unknown_option', detail };
}
