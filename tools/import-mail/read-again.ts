import { ApiClient } from '../import/api-client.ts';
import type { CommandContext } from '../import/command-context.ts';
import { makeDevelopmentToken } from '../import/development-token.ts';
import { isObject, parseJson } from '../import/json.ts';
import { listReasons } from '../import/problem.ts';

/** The options of `npm run import:mail -- --again`. */
interface AgainOptions {
  url: URL;
  token: string | undefined;
  dataFolder: string;
  conversationId: number;
}

const path = '/ticketing.tickets.v1.MailService/ReadMailAgain';

/**
 * Has the text and the files of a message made again, from the mail as it was transferred.
 *
 * Shape: the exit code: 0 done, 2 refused. Errors: UsageError; InterruptedError.
 */
export async function readAgain(
  { url, token, dataFolder, conversationId }: AgainOptions,
  { print, signal }: Pick<CommandContext, 'print' | 'signal'>,
): Promise<number> {
  const client = new ApiClient({
    url,
    token: token ?? (await makeDevelopmentToken(dataFolder, 'updateTechnicalTicketFields')),
    connections: 1,
    signal,
  });
  try {
    const body = Buffer.from(JSON.stringify({ conversationId }));
    const response = await client.send({
      method: 'POST',
      path,
      body,
      contentType: 'application/json',
      wantsBody: true,
    });
    if (response.status >= 300) {
      print(`Message ${conversationId} was not read again: ${listReasons(response).join(' ')}`);
      return 2;
    }
    const result = parseJson(response.text);
    print(`Message ${conversationId} of ticket ${isObject(result) ? result.ticketId : '?'} was read again.`);
    return 0;
  } finally {
    client.close();
  }
}
