// A scorer that scores nothing here: it hands the run to ragsonde, which does.

import { createScorer } from '@mastra/core/evals';
import { sendRun } from './send-run.mjs';

export const ragsonde = createScorer({
  id: 'ragsonde',
  description: 'Sends the run to ragsonde; 1: it was accepted',
  type: 'agent',
}).generateScore(async ({ run }) => {
  await sendRun(run);
  return 1;
});
