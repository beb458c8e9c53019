/** An error that the user of a script can correct. Its message is one sentence. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Runs a script that is for development only. If it fails, prints the message of the error and exits with code 1. */
export async function runDevelopmentScript(script: () => Promise<void>): Promise<void> {
  try {
    if (process.env.NODE_ENV === 'production') {
      throw new UsageError('This is for development only and does not run with NODE_ENV=production.');
    }
    await script();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
}
