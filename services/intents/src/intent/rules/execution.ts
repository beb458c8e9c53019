import type { JsonObject } from '@bufbuild/protobuf';
import type { ExecutorState } from '../../agent/rules/executor.ts';

/**
 * The next step of an execution. It is stored before it begins, so that an execution that has stopped, because its
 * process has died or the tickets service is unavailable, is continued there by another process:
 *
 * - `call`: the backend system is called. Whether it has done its work is known only to the process that called it.
 * - `reply`: the message of the executor is written to the customer.
 * - `apply`: the ticket is changed as the executor says, and gets the outcome.
 * - `inform`: the customer is informed about the outcome.
 * - `record`: the ticket gets the outcome, and is closed after the customer was informed.
 *
 * All but `call` can be repeated: the tickets service does each of them once for the id of the execution.
 */
export type ExecutionStep = 'call' | 'reply' | 'apply' | 'inform' | 'record';

/** The actor of an execution, as it is stored. */
export interface ExecutionActor {
  profileId: number | null;
  kind: string;
  isHuman: boolean;
  /** The whole identity with which other services are called, as JSON text. */
  identity: string;
}

/** An execution that is running. */
export interface ExecutionState {
  /** Names it to the backend system, to the tickets service and in the log. */
  txId: string;
  step: ExecutionStep;
  /** Unix seconds. */
  startedAt: number;
  /** The actor; null for the system. */
  caller: ExecutionActor | null;
  /** The chosen option; null if there are none. */
  option: string | null;
  /** The data of the intent, overwritten by the request, without the option. */
  data: JsonObject;
  informsCustomer: boolean;
  /** The response template of the reply; null without one. */
  templateId: number | null;
  /** The fields of the ticket that the executor changes; null without any. */
  fields: JsonObject | null;
  /** The language of the ticket at the beginning: a message that is written again must be the same. */
  languageCode: string | null;
  /** Whether the executor closes the ticket, or the customer was informed. */
  closesTicket: boolean;
}

/** Returns the first step of an execution. */
export function firstStep(type: ExecutorState['type']): ExecutionStep {
  if (type === 'http') return 'call';
  return type === 'reply' ? 'reply' : 'apply';
}

/**
 * Returns the step after one that has succeeded; undefined if the execution has ended. The message of a reply informs the
 * customer.
 */
export function stepAfter(step: ExecutionStep, informsCustomer: boolean): ExecutionStep | undefined {
  switch (step) {
    case 'call':
      return informsCustomer ? 'inform' : 'record';
    case 'apply':
      return informsCustomer ? 'inform' : undefined;
    case 'record':
      return undefined;
    default:
      return 'record';
  }
}
