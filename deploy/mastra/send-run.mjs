// Sends a scorer run of Mastra to `ragsonde receiver`. docs/how-to/send-from-mastra.md shows where it is called.

const { RAGSONDE_URL = 'http://127.0.0.1:4318', RAGSONDE_TOKEN } = process.env;

// a run also carries live objects (request and tracing contexts), which no message can
const KEYS = ['runId', 'traceId', 'spanId', 'threadId', 'resourceId', 'entity', 'source', 'input', 'output',
  'groundTruth', 'additionalContext'];

export async function sendRun(run) {
  const answer = await fetch(`${RAGSONDE_URL}/traces`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(RAGSONDE_TOKEN && { authorization: `Bearer ${RAGSONDE_TOKEN}` }),
    },
    body: JSON.stringify(Object.fromEntries(KEYS.map((key) => [key, run[key]]))),
    signal: AbortSignal.timeout(10_000),
  });
  if (!answer.ok) throw new Error(`ragsonde answered ${answer.status}: ${await answer.text()}`);
  return answer.json();
}
