import { secondsNow } from '@ticketing/runtime/runtime.ts';
import type { AttachmentState } from './attachment.ts';
import { toAttachmentId } from './attachment.ts';
import type { FileContext } from './file-context.ts';
import type { FileContent } from './file-store.ts';

/** How long after its last write a file is checked: longer than any writer takes that could still list it. */
export const checkAfterMs = 60 * 60 * 1000;

type StoreContext = Pick<FileContext, 'files' | 'runtime'>;

/** Stores the content of a file whose other properties are known. Nothing of it is left if that fails. */
export async function storeContent(
  { files, runtime }: StoreContext,
  file: Omit<AttachmentState, 'id' | 'createdAt' | 'key'>,
  pieces: FileContent['pieces'],
): Promise<AttachmentState> {
  const key = runtime.randomBytes(16).toString('hex');
  const content = { size: file.size, pieces };
  await files.write(key, content, new Date(runtime.now() + checkAfterMs)).catch(async (error: unknown) => {
    await files.remove([key]).catch(() => undefined);
    throw error;
  });
  return { ...file, id: toAttachmentId(runtime.randomBytes(8)), createdAt: secondsNow(runtime), key };
}

/** Stores files one after the other, so that a request holds one of them at a time. None is left if one fails. */
export async function storeAll<Input>(
  { files }: Pick<StoreContext, 'files'>,
  inputs: readonly Input[],
  store: (input: Input, index: number) => Promise<AttachmentState>,
): Promise<AttachmentState[]> {
  const stored: AttachmentState[] = [];
  try {
    for (const [index, input] of inputs.entries()) stored.push(await store(input, index));
  } catch (error) {
    // If this fails too, the sweeper removes them.
    await files.remove(stored.map(({ key }) => key)).catch(() => undefined);
    throw error;
  }
  return stored;
}
