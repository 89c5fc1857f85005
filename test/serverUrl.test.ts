import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as ServerUrl from "../src/internal/serverUrl.ts"

const long = (length: number): string => {
  const start = "http://mcp.example/secret?"
  return start + "a".repeat(length - start.length)
}

describe("parse", () => {
  it.each([
    ["http://mcp.example", "http://mcp.example/"],
    ["https://mcp.example/mcp", "https://mcp.example/mcp"],
    ["HTTPS://MCP.Example:443/MCP", "https://mcp.example/MCP"],
    ["http://mcp.example:8080/a/../mcp/?q=1&r=#fragment", "http://mcp.example:8080/mcp/?q=1&r="],
    ["http://mcp.example/#", "http://mcp.example/"],
    ["  http://mcp.example/\n", "http://mcp.example/"],
    ["http:\\\\mcp.example\\mcp", "http://mcp.example/mcp"],
    ["http://[::1]:3000/mcp", "http://[::1]:3000/mcp"],
    ["http://2130706433/", "http://127.0.0.1/"],
    ["http://bücher.example/", "http://xn--bcher-kva.example/"],
    ["http://@mcp.example/", "http://mcp.example/"],
    ["http://mcp.example/user:pass@x", "http://mcp.example/user:pass@x"],
    [long(8192), long(8192)]
  ].map(([input = "", href = ""]) => [input.slice(0, 60), input, href] as const))("reads %j", (_, input, href) => {
    assert.strictEqual(Result.getOrThrow(ServerUrl.parse(input)).href, href)
    assert.strictEqual(Result.getOrThrow(ServerUrl.parse(new URL(input))).href, href)
  })

  it.each(
    [
      "",
      " ",
      "secret",
      "/secret",
      "//mcp.example/secret",
      "?secret",
      "http:",
      "http://",
      "http:///",
      "http://secret host/",
      "http://secret:port/",
      "http://mcp.example:65536/secret",
      "http://[::1/secret",
      "http://[fe80::1%25eth0]/secret",
      "http://256.0.0.1/secret",
      "http://1.2.3.4.5/secret",
      "http://mcp.example%00/secret",
      "ftp://mcp.example/secret",
      "file:///secret",
      "ws://mcp.example/secret",
      "wss://mcp.example/secret",
      "javascript:secret()",
      "data:text/plain,secret",
      "blob:http://mcp.example/secret",
      "about:blank",
      "mcp.example:443/secret",
      "http://secret@mcp.example/",
      "http://secret:secret@mcp.example/",
      "http://:secret@mcp.example/",
      "https://secret%40x@mcp.example/",
      long(8193),
      long(1024 * 1024),
      "secret".repeat(200_000)
    ].map((input) => [input.slice(0, 60), input])
  )("refuses %j, and quotes none of it", (_, input) => {
    const problem = Result.getOrThrow(Result.flip(ServerUrl.parse(input)))
    assert.isBelow(problem.length, 100)
    assert.notInclude(problem, "secret")
    assert.notInclude(problem, "mcp.example")
  })

  it("leaves the URL that it was given alone", () => {
    const given = new URL("http://mcp.example/mcp#fragment")
    const url = Result.getOrThrow(ServerUrl.parse(given))
    url.pathname = "/other"
    assert.strictEqual(given.href, "http://mcp.example/mcp#fragment")
  })

  it("refuses userinfo and other schemes in a URL as in a text", () => {
    for (const text of ["http://secret@mcp.example/", "ftp://mcp.example/", long(8193)]) {
      assert.isTrue(Result.isFailure(ServerUrl.parse(new URL(text))))
    }
  })
})

describe("display", () => {
  it.each([
    ["http://mcp.example/secret?token=secret", "http://mcp.example"],
    ["https://mcp.example:443/secret", "https://mcp.example"],
    ["https://mcp.example:8443/secret", "https://mcp.example:8443"],
    ["http://[::1]:3000/secret", "http://[::1]:3000"]
  ])("of %s is %s", (input, shown) => {
    assert.strictEqual(ServerUrl.display(Result.getOrThrow(ServerUrl.parse(input))), shown)
  })
})
