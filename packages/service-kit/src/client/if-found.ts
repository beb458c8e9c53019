import { Code, ConnectError } from '@connectrpc/connect';

/** What another service returns; undefined if it responds that there is no such thing. Errors: its other errors. */
export async function ifFound<Result>(read: Promise<Result>): Promise<Result | undefined> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof ConnectError && error.code === Code.NotFound) return undefined;
    throw error;
  }
}
