import { fromBinary } from '@bufbuild/protobuf';
import { ProblemSchema, type Violation } from '@ticketing/contracts/ticketing/api/v1/problem_pb.ts';
import type { ApiResponse } from './http-transport.ts';
import { isObject, objectsIn, parseJson } from './json.ts';

/** The error of a call by the Connect protocol. */
export interface RpcProblem {
  message: string;
  /** The errors in the input, by pointers into it. */
  violations: Violation[];
}

/** Reads the error of a call. */
export function toRpcProblem(response: ApiResponse): RpcProblem {
  const error = parseJson(response.text);
  const details = objectsIn(error, 'details').filter(({ type }) => type === ProblemSchema.typeName);
  const message = isObject(error) ? String(error.message ?? error.code ?? '') : '';
  return {
    message: `${response.status} ${message}`.trim(),
    violations: details.flatMap(({ value }) => fromBinary(ProblemSchema, Buffer.from(String(value), 'base64')).errors),
  };
}
