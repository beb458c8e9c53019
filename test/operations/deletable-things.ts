import { expect } from 'vitest';

type Json = Record<string, unknown>;
/** Sends a request as an admin. */
type Send = (method: string, path: string, content?: object) => Promise<{ status: number; body: Json }>;

/** Something that an administrator or an agent can delete. */
interface Thing {
  path: string;
  /** Deletes it, where that is not a DELETE of its path. */
  change?: object;
}

/** One of each kind of thing that can be deleted, with names by which a test finds their texts again. */
export interface DeletableThings {
  things: readonly Thing[];
  /** The id of a subchannel, which can only be read in a list. */
  subchannel: number;
  /** The ticket of the file and of the draft, which is not deleted. */
  ticket: number;
}

/** Creates one of each kind of thing that can be deleted, also some that name each other. */
export async function createThings(send: Send): Promise<DeletableThings> {
  const create = async (path: string, content: object): Promise<Json> => {
    const { status, body } = await send('POST', path, content);
    expect([path, status, body]).toEqual([path, status < 300 ? status : 'created', body]);
    const [inner] = ['webhook', 'conversation', 'skill'].flatMap((name) => (body[name] ? [body[name] as Json] : []));
    return { ...inner, ...body };
  };
  const toId = async (path: string, content: object) => Number((await create(path, content)).id);
  const parent = await toId('/tag', { name: 'A parent' });
  const child = await toId('/tag', { name: 'A child', parent });
  const emailTemplate = await toId('/emailTemplate', { name: 'Wrapper', template: '<p>%MESSAGE%</p>' });
  const subchannel = await toId('/settings/subchannel', {
    channel: 'chat',
    name: 'Chat',
    emailTemplateId: emailTemplate,
  });
  const template = await toId('/template', { message: '<p>Hello</p>', emailTemplateId: emailTemplate });
  const executor = { type: 'reply', templateId: template };
  const webhook = await toId('/webhook', { url: 'http://127.0.0.1:9/hook', subchannelIds: [subchannel] });
  const agent = await toId('/aiAgent', { name: 'An agent', executor });
  const skill = await toId('/skill', { name: 'A skill' });
  const source = await toId('/knowledgeSource', { type: 'faq', name: 'Secrets', title: 'Secrets', text: 'x' });
  const attachments = [{ name: 'a.txt', base64: Buffer.from('a text').toString('base64') }];
  const ticket = await create('/ticket', { channel: 'chat', subject: 'with a file', body: 'x', attachments });
  const [file] = ticket.attachments as { id: string }[];
  const draft = { content: { message: 'a draft', type: 'text' }, isDraft: true };
  const conversation = await toId(`/ticket/${ticket.id}/conversation/reply`, draft);
  return {
    things: [
      // The parent comes last, because it cannot be deleted before its child.
      { path: `/tag/${child}` },
      { path: `/tag/${parent}` },
      { path: `/aiAgent/${agent}` },
      { path: `/template/${template}` },
      { path: `/emailTemplate/${emailTemplate}` },
      { path: `/skill/${skill}` },
      { path: `/knowledgeSource/${source}`, change: { status: 'deleted' } },
      { path: `/webhook/${webhook}` },
      { path: `/ticket/${ticket.id}/attachment/${file?.id}` },
      { path: `/ticket/${ticket.id}/conversation/${conversation}` },
    ],
    subchannel,
    ticket: Number(ticket.id),
  };
}

/** Deletes all of them. */
export async function deleteThings(send: Send, { things, subchannel }: DeletableThings): Promise<void> {
  for (const { path, change } of [...things, { path: `/settings/subchannel/${subchannel}`, change: undefined }]) {
    const { status, body } = change ? await send('PATCH', path, change) : await send('DELETE', path);
    expect([path, status, body]).toEqual([path, 200, body]);
  }
}

/** Lists the things that can still be read. */
export async function remaining(send: Send, { things, subchannel }: DeletableThings): Promise<string[]> {
  const left: string[] = [];
  for (const { path } of things) if ((await send('GET', path)).status !== 404) left.push(path);
  const { body } = await send('GET', '/settings/subchannel');
  if ((body.subchannels as { id: number }[]).some(({ id }) => id === subchannel)) left.push('subchannel');
  return left;
}
