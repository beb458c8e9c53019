import { mongo } from 'mongoose';

/** How many archived sources there are. */
export const archivedCount = 10_000;

/** The database in which the knowledge service keeps its sources. */
export const knowledgeDatabase = 'ticketing_knowledge';

/** The number of `archived` in the contract. */
export const archived = 2;
const text = `# Rückgabe\n\n${'Eine Rückgabe ist innerhalb von **14 Tagen** möglich, siehe [AGB](https://example.org/agb). '.repeat(20)}`;
const atOnce = 1000;

/**
 * Adds the sources to the database of the service, below one folder for each hundred. The service must not have read its
 * sources yet, because they are not in its log.
 */
export async function fillKnowledge(mongodbUri: string): Promise<void> {
  const client = await mongo.MongoClient.connect(mongodbUri);
  const sources = client.db(knowledgeDatabase).collection<{ _id: number }>('sources');
  for (let first = 1; first <= archivedCount; first += atOnce) {
    await sources.insertMany(Array.from({ length: atOnce }, (_, index) => sourceDocument(first + index)));
  }
  await client.close();
}

function sourceDocument(id: number) {
  const folder = id - (id % 100);
  return {
    ...{
      _id: id,
      version: 1,
      revision: 0,
      parent: folder === id || folder === 0 ? null : folder,
      teams: [],
      status: archived,
    },
    ...{ type: 3, excluded: false, modifiedAt: 1_700_000_000 + id, createdAt: 1_700_000_000, bytes: text.length + 400 },
    ...{
      source: `handbuch/${id}.md`,
      name: `${id}.md`,
      title: `Rückgabe ${id}`,
      text,
      tags: [1, 2],
      confidential: false,
    },
    ...{ titleWords: ['ruckgabe'], textWords: ['ruckgabe'], sourceHash: String(id), readers: [] },
  };
}
