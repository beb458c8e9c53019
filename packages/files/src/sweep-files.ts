import { sweep } from '@ticketing/store/document/sweep.ts';
import type { FileContext } from './file-context.ts';
import type { OwnerId, StoredFile } from './file-store.ts';

const batch = 100;

/**
 * Checks the files that were written an hour ago: those that their owner lists stay for good; the others, whose writers have
 * died or failed, are removed. `listedBy` returns the keys of the files that an owner lists, and of all that belongs to it,
 * and those of the files to check whose part it has; none if there is no such owner.
 */
export async function sweepFiles(
  { files, quota, runtime }: Pick<FileContext, 'files' | 'quota' | 'runtime'>,
  listedBy: (ownerId: OwnerId, files: readonly StoredFile[]) => Promise<ReadonlySet<string>>,
): Promise<void> {
  await quota.removeExpired();
  const now = () => new Date(runtime.now());
  const check = async (ownerId: OwnerId | null, ofOwner: readonly StoredFile[]) => {
    const checkedAt = now();
    const listed = ownerId === null ? new Set<string>() : await listedBy(ownerId, ofOwner);
    const keys = ofOwner.map(({ key }) => key);
    await files.settle(
      keys.filter((key) => listed.has(key)),
      checkedAt,
    );
    await files.remove(keys.filter((key) => !listed.has(key)));
  };
  await sweep({
    batch,
    find: (limit) => files.toCheck(now(), limit),
    async settle(due) {
      for (const [ownerId, ofOwner] of Map.groupBy(due, (file) => file.ownerId)) await check(ownerId, ofOwner);
    },
  });
}

/** Removes the files of a deleted owner, and of all that belonged to it. */
export async function eraseFiles({ files }: Pick<FileContext, 'files'>, ownerId: OwnerId): Promise<void> {
  await sweep({
    batch,
    find: (limit) => files.ofOwner(ownerId, limit),
    settle: (keys) => files.remove(keys),
  });
}
