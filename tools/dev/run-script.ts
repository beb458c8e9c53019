/** Something that the user of a script can put right; its message is one sentence. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Runs a script that exists for development only; an error ends it with its message and code 1. */
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
