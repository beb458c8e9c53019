/**
 * Removes a document, and tries again as long as it is still there: a server that only speaks MongoDB's protocol removes
 * nothing if the document is changed at the same moment. Returns whether this call has removed it.
 */
export async function removePresent(
  remove: () => Promise<boolean>,
  isPresent: () => Promise<boolean>,
): Promise<boolean> {
  while (!(await remove())) if (!(await isPresent())) return false;
  return true;
}
