import { Code, ConnectError } from '@connectrpc/connect';

/** Turns NOT_FOUND of another service into undefined, and rethrows every other error. */
export async function ifFound<Result>(read: Promise<Result>): Promise<Result | undefined> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof ConnectError && error.code === Code.NotFound) return undefined;
    throw error;
  }
}
