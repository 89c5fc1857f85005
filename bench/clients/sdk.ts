/**
 * The tasks as a user of the official SDK does them, whichever its version: one client for the calls and the listing,
 * and a new one for each work item.
 */
import { args, checkAnswer, checkLarge, checkTools, firstText, largeTool, tool } from "../tasks.ts"
import { type Client, fromPromises, lazily } from "./client.ts"

interface SdkClient {
  readonly callTool: (
    params: { readonly name: string; readonly arguments: Record<string, unknown> }
  ) => Promise<{ readonly [key: string]: unknown; readonly content?: unknown }>
  readonly close: () => Promise<void>
}

export const fromSdk = async <C extends SdkClient>(
  connect: () => Promise<C>,
  connectStdio: () => Promise<C>,
  listTools: (client: C) => Promise<ReadonlyArray<unknown>>,
  closeFetch: () => Promise<void>
): Promise<Client> => {
  const callTool = async (client: C, name: string): Promise<unknown> => {
    const { content } = await client.callTool({ name, arguments: args })
    return firstText(content)
  }

  const shared = await connect()
  const overStdio = lazily(connectStdio)
  return fromPromises({
    echo: async () => checkAnswer(await callTool(await overStdio(), tool)),
    call: async () => checkAnswer(await callTool(shared, tool)),
    list: async () => checkTools(await listTools(shared)),
    large: async () => checkLarge(await callTool(shared, largeTool)),
    workItem: async () => {
      const client = await connect()
      checkAnswer(await callTool(client, tool))
      await client.close()
    }
  }, async () => {
    await shared.close()
    await closeFetch()
  })
}
