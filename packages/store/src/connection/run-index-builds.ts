/** A build of the missing indexes of a collection. */
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
  const errors = new Map<IndexBuild, unknown>();
  const attempt = (build: IndexBuild) => build.run().catch((error: unknown) => void errors.set(build, error));
  if (isNew) await Promise.all(builds.map(attempt));
  else for (const build of builds) await attempt(build);
  const failed = builds.filter((build) => errors.has(build));
  if (failed.length === 0) return;
  const details = failed.map((build) => `${build.collection} (${describe(errors.get(build))})`).join(', ');
  throw new AggregateError(errors.values(), `The indexes of these collections cannot be built: ${details}`);
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
