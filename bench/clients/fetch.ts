import { Agent, fetch as undiciFetch, request, Response as UndiciResponse } from "undici"

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>

export const keepAliveFetch = (): { readonly fetch: Fetch; readonly close: () => Promise<void> } => {
  const dispatcher = new Agent()
  const kind = process.env.BENCH_FETCH ?? "undici"
  if (kind === "global") return { fetch: (u, i) => fetch(u, i), close: () => dispatcher.close() }
  if (kind === "adapter") {
    return {
      fetch: async (url, init) => {
        const { statusCode, headers, body } = await request(url as string, {
          method: (init?.method ?? "GET") as "POST",
          headers: init?.headers as never,
          body: init?.body as never,
          signal: init?.signal as never,
          dispatcher
        })
        return new UndiciResponse(
          statusCode === 204 || statusCode === 202 ? await body.dump().then(() => null) : body as never,
          {
            status: statusCode,
            headers: headers as Record<string, string>
          }
        ) as unknown as Response
      },
      close: () => dispatcher.close()
    }
  }
  if (kind === "textU" || kind === "textG") {
    const R = (kind === "textU" ? UndiciResponse : Response) as typeof Response
    return {
      fetch: async (url, init) => {
        const { statusCode, headers, body } = await request(url as string, {
          method: (init?.method ?? "GET") as "POST",
          headers: init?.headers as never,
          body: init?.body as never,
          signal: init?.signal as never,
          dispatcher
        })
        const text = await body.text()
        return new R(statusCode === 204 || statusCode === 202 ? null : text, {
          status: statusCode,
          headers: headers as Record<string, string>
        })
      },
      close: () => dispatcher.close()
    }
  }
  if (kind === "lean") {
    return {
      fetch: async (url, init) => {
        const { statusCode, headers, body } = await request(url as string, {
          method: (init?.method ?? "GET") as "POST",
          headers: init?.headers as never,
          body: init?.body as never,
          signal: init?.signal as never,
          dispatcher
        })
        const text = await body.text()
        return {
          ok: statusCode >= 200 && statusCode < 300,
          status: statusCode,
          statusText: "",
          url: String(url),
          headers: {
            get: (n: string) => headers[n.toLowerCase()] ?? null,
            has: (n: string) => n.toLowerCase() in headers
          },
          text: async () => text,
          json: async () => JSON.parse(text),
          body: { cancel: async () => {} }
        } as unknown as Response
      },
      close: () => dispatcher.close()
    }
  }
  return {
    fetch: (url, init) => undiciFetch(url, { ...init, dispatcher } as never) as unknown as Promise<Response>,
    close: () => dispatcher.close()
  }
}
