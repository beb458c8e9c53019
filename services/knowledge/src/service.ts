import { KnowledgeService } from '@ticketing/contracts/ticketing/knowledge/v1/knowledge_service_pb.ts';
import { SkillService } from '@ticketing/contracts/ticketing/knowledge/v1/skill_service_pb.ts';
import { implement } from '@ticketing/rest/rest-api.ts';
import { composeService } from '@ticketing/service-kit/lifecycle/compose-service.ts';
import { openContext } from './application/context.ts';
import { scheduledTasks } from './application/scheduled-tasks.ts';
import { eventHandler } from './events/tag-changed.ts';
import { createKnowledgeSource } from './rpc/create-knowledge-source.ts';
import { createSkill } from './rpc/create-skill.ts';
import { deleteSkill } from './rpc/delete-skill.ts';
import { getKnowledgeSource } from './rpc/get-knowledge-source.ts';
import { getSkill } from './rpc/get-skill.ts';
import { listArchivedKnowledgeSources } from './rpc/list-archived-knowledge-sources.ts';
import { listKnowledgeSources } from './rpc/list-knowledge-sources.ts';
import { listSkills } from './rpc/list-skills.ts';
import { markKnowledgeSourceRead } from './rpc/mark-knowledge-source-read.ts';
import { updateKnowledgeSource } from './rpc/update-knowledge-source.ts';
import { updateSkill } from './rpc/update-skill.ts';
import { setUpStore } from './store/set-up-store.ts';

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
