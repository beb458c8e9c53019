import { KnowledgeService } from '@ticketing/contracts/ticketing/knowledge/v1/knowledge_service_pb.ts';
import { SkillService } from '@ticketing/contracts/ticketing/knowledge/v1/skill_service_pb.ts';
import { implement } from '@ticketing/rest/routes/rest-api.ts';
import { composeService } from '@ticketing/service-kit/lifecycle/compose-service.ts';
import { eventHandler } from './consume.ts';
import { openContext } from './context.ts';
import { scheduledTasks } from './scheduled-tasks.ts';
import { setUpStore } from './set-up-store.ts';
import { createSkill } from './skill/create.ts';
import { deleteSkill } from './skill/delete.ts';
import { getSkill } from './skill/get.ts';
import { listSkills } from './skill/list.ts';
import { updateSkill } from './skill/update.ts';
import { createKnowledgeSource } from './source/create.ts';
import { getKnowledgeSource } from './source/get.ts';
import { listKnowledgeSources } from './source/list.ts';
import { listArchivedKnowledgeSources } from './source/list-archived.ts';
import { markKnowledgeSourceRead } from './source/mark-read.ts';
import { updateKnowledgeSource } from './source/update.ts';

/** The knowledge service. */
export const service = composeService({
  name: 'knowledge',
  setUpStore,
  compose(kit) {
    const context = openContext(kit);
    return {
      implementations: [
        implement(KnowledgeService, context, {
          listKnowledgeSources,
          listArchivedKnowledgeSources,
          createKnowledgeSource,
          getKnowledgeSource,
          updateKnowledgeSource,
          markKnowledgeSourceRead,
        }),
        implement(SkillService, context, { listSkills, createSkill, getSkill, updateSkill, deleteSkill }),
      ],
      handle: eventHandler(context),
      tasks: scheduledTasks(context),
    };
  },
});
