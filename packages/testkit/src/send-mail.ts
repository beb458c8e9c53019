import { connect } from 'node:net';
import { createInterface } from 'node:readline';

/** Sends a mail by SMTP, as another mail server would. Returns the codes of the replies to the recipients and to the data. */
export async function sendMail(
  port: number,
  recipients: readonly string[],
  mail: string,
  from = 'kim@example.com',
): Promise<string[]> {
  const socket = connect(port, '127.0.0.1');
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  const reply = async (): Promise<string> => {
    const { value } = await lines.next();
    return value?.[3] === '-' ? reply() : (value?.slice(0, 3) ?? '');
  };
  const send = (line: string) => {
    socket.write(`${line}\r\n`);
    return reply();
  };
  await reply();
  await send('EHLO sender.example');
  await send(`MAIL FROM:<${from}>`);
  const codes: string[] = [];
  for (const recipient of recipients) codes.push(await send(`RCPT TO:<${recipient}>`));
  if (codes.includes('250')) {
    await send('DATA');
    codes.push(await send(`${mail}\r\n.`));
  }
  await send('QUIT');
  socket.destroy();
  return codes;
}
