import { EmailTemplateService } from '@ticketing/contracts/ticketing/templates/v1/email_template_service_pb.ts';
import { RenderingService } from '@ticketing/contracts/ticketing/templates/v1/rendering_service_pb.ts';
import { TemplateService } from '@ticketing/contracts/ticketing/templates/v1/template_service_pb.ts';
import { deletedTagIds } from '@ticketing/events/consumer/deleted-tags.ts';
import { sweepFiles } from '@ticketing/files/sweep-files.ts';
import { bind, implement } from '@ticketing/rest/routes/rest-api.ts';
import { composeService } from '@ticketing/service-kit/lifecycle/compose-service.ts';
import { readTemplatesConfig } from './config.ts';
import { createEmailTemplate } from './email-template/create.ts';
import { deleteEmailTemplate, removeEmailTemplate } from './email-template/delete.ts';
import { findWrapper } from './email-template/find-wrapper.ts';
import { getEmailTemplate } from './email-template/get.ts';
import { listEmailTemplates } from './email-template/list.ts';
import { openEmailTemplates } from './email-template/open.ts';
import { emailTemplateStore } from './email-template/store.ts';
import { updateEmailTemplate } from './email-template/update.ts';
import { wrapMessage } from './email-template/wrap-message.ts';
import { measureRenders } from './rendering/metrics.ts';
import { openRendering } from './rendering/open.ts';
import { setUpStore } from './set-up-store.ts';
import { readSettings } from './settings.ts';
import { createTemplate } from './template/create.ts';
import { deleteTemplate } from './template/delete.ts';
import { dropMissed, dropTags, eraseTicket } from './template/drop-deleted.ts';
import { dropDeletedFromAiAgents } from './template/drop-from-ai-agents.ts';
import { getTemplate } from './template/get.ts';
import { getTemplateAttachment } from './template/get-attachment.ts';
import { listTemplates } from './template/list.ts';
import { openTemplates } from './template/open.ts';
import { previewTemplate } from './template/preview.ts';
import { renderTemplate } from './template/render.ts';
import { templateStore } from './template/store.ts';
import { updateTemplate } from './template/update.ts';

const minute = 60_000;

/** The templates service. */
export const service = composeService({
  name: 'templates',
  readConfig: readTemplatesConfig,
  readSettings,
  setUpStore,
  compose(kit) {
    const { runtime, settings } = kit;
    const { connection } = kit.database;
    const rendering = openRendering(kit.log, {
      timeoutMs: kit.config.renderTimeoutMs,
      onStopped: measureRenders(kit.metrics.registry),
    });
    kit.onClose(() => rendering.close());
    const templates = templateStore(connection, runtime);
    const emailTemplates = emailTemplateStore(connection, runtime);
    const dropFromTemplates = (id: number) => templates.drop('emailTemplateId', [id]);
    const emailTemplate = openEmailTemplates(kit, { emailTemplates, rendering, dropFromTemplates });
    const wrappers = { emailTemplates, settings };
    const { template, deletion, preview } = openTemplates(kit, { templates, wrappers, rendering });
    return {
      implementations: [
        implement(TemplateService, {
          ...bind(template, { listTemplates, createTemplate, getTemplate, updateTemplate, getTemplateAttachment }),
          ...bind(deletion, { deleteTemplate }),
          ...bind(preview, { previewTemplate }),
        }),
        implement(EmailTemplateService, emailTemplate, {
          listEmailTemplates,
          createEmailTemplate,
          getEmailTemplate,
          updateEmailTemplate,
          deleteEmailTemplate,
        }),
        implement(RenderingService, {
          ...bind(template, { renderTemplate }),
          ...bind(emailTemplate, { wrapMessage, findWrapper }),
        }),
      ],
      deletionsAlone: [implement(EmailTemplateService, emailTemplate, { deleteEmailTemplate: removeEmailTemplate })],
      handle: (events) => dropTags(template, deletedTagIds(events)),
      eraseTicket: (id) => eraseTicket(template, id),
      tasks: [
        {
          name: 'drop deleted tickets and tags',
          everyMs: 10 * minute,
          run: () => dropMissed(template, runtime.now()),
        },
        {
          name: 'have AI agents drop deleted templates',
          everyMs: 5_000,
          run: () => dropDeletedFromAiAgents(deletion),
        },
        { name: 'sweep files', everyMs: minute, run: () => sweepFiles(template.files, templates.readFileKeys) },
      ],
    };
  },
});
