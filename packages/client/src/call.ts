import type { operations } from './gen/openapi.ts';
import type { operationTable } from './gen/operations.ts';

/** The options of one call, besides its request. */
export interface CallOptions {
  /** Aborts the call, also while it waits for another attempt. */
  signal?: AbortSignal;
  /** The key that makes a write safe to repeat; a random one by default. Pass your own to repeat it after a restart. */
  idempotencyKey?: string;
}

type Part<Name extends string, Values> = [Values] extends [undefined]
  ? unknown
  : undefined extends Values
    ? { [Key in Name]?: NonNullable<Values> }
    : { [Key in Name]: Values };

type BodyOf<Given> = Given extends { requestBody: { content: { 'application/json': infer Body } } }
  ? { body: Body }
  : Given extends { requestBody?: { content: { 'application/json': infer Body } } }
    ? { body?: Body }
    : unknown;

type Parameters<Name extends keyof operations> = operations[Name]['parameters'];

/** The request of an operation: `path`, `query`, `header` and `body`, as far as it has them. */
export type RequestOf<Name extends keyof operations> = Part<'path', Parameters<Name>['path']> &
  Part<'query', Parameters<Name>['query']> &
  Part<'header', Parameters<Name>['header']> &
  BodyOf<operations[Name]>;

type Contents<Responses> = {
  [Status in keyof Responses & (200 | 201 | 202)]: Responses[Status] extends {
    content: { 'application/json': infer Body };
  }
    ? Body
    : never;
}[keyof Responses & (200 | 201 | 202)];

/** The result of an operation: the body of its response, or the response itself if it is a file. */
export type ResultOf<Name extends keyof operations> = (typeof operationTable)[Name]['response'] extends 'file'
  ? Response
  : Contents<operations[Name]['responses']>;

/** Calls an operation. Errors: ProblemError; ConnectionError; a TypeError for a path without its parameters. */
export type Call<Name extends keyof operations> =
  Record<string, never> extends RequestOf<Name>
    ? (request?: RequestOf<Name>, options?: CallOptions) => Promise<ResultOf<Name>>
    : (request: RequestOf<Name>, options?: CallOptions) => Promise<ResultOf<Name>>;
