/** What builds the missing indexes of a collection. */
export interface IndexBuild {
  collection: string;
  run(): Promise<unknown>;
}

/**
 * Builds indexes: of a new database all at once; of one that services use one collection after the other, because a build
 * reads its collection and takes time from requests.
 *
 * Errors: AggregateError, which names every collection that failed; not before all builds have ended, because the caller
 * closes their connection.
 */
export async function runIndexBuilds(builds: readonly IndexBuild[], isNew: boolean): Promise<void> {
  const outcomes: PromiseSettledResult<unknown>[] = [];
  if (isNew) outcomes.push(...(await Promise.allSettled(builds.map(({ run }) => run()))));
  else for (const { run } of builds) outcomes.push(...(await Promise.allSettled([run()])));
  const errors = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  if (errors.length === 0) return;
  const failed = builds.filter((_build, index) => outcomes[index]?.status === 'rejected');
  const details = failed.map(({ collection }, index) => `${collection} (${describe(errors[index])})`).join(', ');
  throw new AggregateError(errors, `The indexes of these collections cannot be built: ${details}`);
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
