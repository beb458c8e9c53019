import { KnowledgeService } from '@ticketing/contracts/ticketing/knowledge/v1/knowledge_service_pb.ts';
import { SkillService } from '@ticketing/contracts/ticketing/knowledge/v1/skill_service_pb.ts';
import { deletedTagIds } from '@ticketing/events/consumer/deleted-tags.ts';
import { implement } from '@ticketing/rest/routes/rest-api.ts';
import { composeService } from '@ticketing/service-kit/lifecycle/compose-service.ts';
import { setUpStore } from './set-up-store.ts';
import { createSkill } from './skill/create.ts';
import { deleteSkill } from './skill/delete.ts';
import { getSkill } from './skill/get.ts';
import { listSkills } from './skill/list.ts';
import { openSkills } from './skill/open.ts';
import { updateSkill } from './skill/update.ts';
import { createKnowledgeSource } from './source/create.ts';
import { erasePendingResponses } from './source/delete.ts';
import { removeDeletedTags, removeDeletedTagsAgain } from './source/deleted-tags.ts';
import { getKnowledgeSource } from './source/get.ts';
import { listKnowledgeSources } from './source/list.ts';
import { listArchivedKnowledgeSources } from './source/list-archived.ts';
import { markKnowledgeSourceRead } from './source/mark-read.ts';
import { openSources } from './source/open.ts';
import { updateKnowledgeSource } from './source/update.ts';

const everyMs = 60_000;

/** The knowledge service. */
export const service = composeService({
  name: 'knowledge',
  setUpStore,
  compose(kit) {
    const source = openSources(kit);
    return {
      implementations: [
        implement(KnowledgeService, source, {
          listKnowledgeSources,
          listArchivedKnowledgeSources,
          createKnowledgeSource,
          getKnowledgeSource,
          updateKnowledgeSource,
          markKnowledgeSourceRead,
        }),
        implement(SkillService, openSkills(kit), { listSkills, createSkill, getSkill, updateSkill, deleteSkill }),
      ],
      handle: (events) => removeDeletedTags(source, deletedTagIds(events)),
      // Every replica runs them; doing the work twice has no effect.
      tasks: [
        { name: 'remove deleted tags', everyMs, run: () => removeDeletedTagsAgain(source) },
        { name: 'remove abandoned changes', everyMs, run: () => source.sources.removeAbandoned() },
        { name: 'erase responses about deleted sources', everyMs, run: () => erasePendingResponses(source) },
      ],
    };
  },
});
