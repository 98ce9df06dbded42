// A coherent MCP server for self-test.yml, without dependencies: it registers
// a tool for clients with sampling only, and names it only to them.
import { createInterface } from 'node:readline';

const schema = { type: 'object' };
let sampling = false;

const results = {
  initialize({ capabilities }) {
    sampling = capabilities.sampling !== undefined;
    return {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'coherent', version: '1' },
      instructions: 'Call `list-notes` first.' + (sampling ? ' For a long note, call `summarize-note`.' : ''),
    };
  },
  'tools/list'() {
    const names = ['list-notes', ...(sampling ? ['summarize-note'] : [])];
    return { tools: names.map((name) => ({ name, inputSchema: schema })) };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = results[method]
    ? { result: results[method](params) }
    : { error: { code: -32601, message: 'Method not found' } };
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
}
