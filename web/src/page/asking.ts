// Who answers the page: Wavecast in a worker, or a server. Both take the requests of `wavecast serve`.

import type { Schema } from "./complete";

/** Milliseconds that an answer may take. */
export const PATIENCE = 5000;

/** There is no answer, and why. */
export class NoAnswer extends Error {}

/** What the page has before it asks anything. */
export interface Gallery {
  /** Texts of kernels by their names. */
  kernels: Record<string, string>;
  /** The JSON Schema of kernels. */
  schema: Schema | null;
}

export interface Engine {
  /** Where it is computed, in words for the foot of the page. */
  where: string;
  gallery(): Promise<Gallery>;
  /** The answer to a request. One that is overtaken by a later one about the same is never answered. */
  request(request: object, about: string): Promise<string>;
}

export const TOO_LATE = `This took longer than ${PATIENCE / 1000} s and was ended. Ask for fewer launches, or use wavecast on the command line, which has no such limit.`;
