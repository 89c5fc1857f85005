import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { Resource } from "../src/index.ts"
import { connect, failsWith } from "./support/connect.ts"
import * as Raw from "./support/rawServer.ts"

const discover: Raw.Responder = (socket, request) =>
  Raw.sendResult(socket, request, { ...Raw.discoverResult, capabilities: { resources: {} } })

const serve = (answers: Readonly<Record<string, Raw.Responder>>) =>
  Raw.make(Raw.modern({ "server/discover": discover, ...answers }))

const result = (value: object): Raw.Responder => (socket, request) =>
  Raw.sendResult(socket, request, { resultType: "complete", ...value })

describe("listResources and listResourceTemplates", () => {
  it.live("bring entries by their URI, and tell of what is none", () =>
    Effect.gen(function*() {
      const server = yield* serve({
        "resources/list": result({
          resources: [{ uri: "a:1", name: "one", size: "big" }, { name: "x" }, { uri: "a:1", name: "again" }, {
            uri: "a:2",
            name: "two",
            own: true
          }]
        }),
        "resources/templates/list": result({ resourceTemplates: [{ uriTemplate: "a:{id}", name: "t" }, { name: "x" }] })
      })
      const connection = yield* connect(server.url)
      const refused: Array<string> = []
      const onRefused = ({ reason }: { readonly reason: string }) => Effect.sync(() => void refused.push(reason))
      assert.deepStrictEqual(yield* connection.listResources({ onRefused }), [
        { uri: "a:1", name: "one" },
        { uri: "a:2", name: "two", own: true }
      ])
      assert.deepStrictEqual(yield* connection.listResourceTemplates({ onRefused }), [{
        uriTemplate: "a:{id}",
        name: "t"
      }])
      assert.deepStrictEqual(refused, [
        "the uri is not a string",
        "the uri is taken by another one",
        "the uriTemplate is not a string"
      ])
    }))
})

describe("readResource", () => {
  it.live("decodes bytes, keeps text, and names the resource in a header", () =>
    Effect.gen(function*() {
      const server = yield* serve({
        "resources/read": result({
          contents: [{ uri: "a:1", mimeType: "text/plain", text: "hi" }, { uri: "a:1", blob: "AAEC" }]
        })
      })
      const connection = yield* connect(server.url)
      const [text, blob] = yield* connection.readResource("a:1")
      assert.deepStrictEqual(text, { uri: "a:1", mimeType: "text/plain", text: "hi" })
      assert.deepStrictEqual([...blob!.blob!], [0, 1, 2])
      assert.strictEqual(server.requests[1]?.headers["mcp-name"], "a:1")
    }))

  it.live.each<readonly [string, object]>([
    ["no contents", {}],
    ["contents that are none", { contents: [null] }],
    ["contents without text or bytes", { contents: [{ uri: "a:1" }] }],
    ["bytes that are no base64", { contents: [{ uri: "a:1", blob: "?" }] }]
  ])("cannot use %s", ([, value]) =>
    Effect.gen(function*() {
      const server = yield* serve({ "resources/read": result(value) })
      const connection = yield* connect(server.url)
      yield* failsWith(connection.readResource("a:1"), "ServerAnswered/Unreadable")
    }))

  it.live.each([-32602, -32002])(
    "has the server's code where there is no such resource: %d",
    (code) =>
      Effect.gen(function*() {
        const server = yield* serve({
          "resources/read": (socket, request) => Raw.sendError(socket, request, { code, message: "Resource not found" })
        })
        const connection = yield* connect(server.url)
        const error = yield* failsWith(connection.readResource("secret:1"), "ServerAnswered/RpcError")
        assert.strictEqual(
          error._tag === "ServerAnswered" && error.reason._tag === "RpcError" && error.reason.code,
          code
        )
        assert.notInclude(`${error.message}${JSON.stringify(error)}`, "secret")
      })
  )

  it.live("sends nothing where the server has none", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern())
      const connection = yield* connect(server.url)
      yield* failsWith(connection.listResources(), "CapabilityMissing")
      yield* failsWith(connection.listResourceTemplates(), "CapabilityMissing")
      yield* failsWith(connection.readResource("a:1"), "CapabilityMissing")
      assert.deepStrictEqual(server.methods(), ["server/discover"])
    }))
})

describe("Resource.expand", () => {
  it.each<readonly [string, Record<string, string | Array<string>>, string]>([
    ["file:///{path}", { path: "a b/c" }, "file:///a%20b%2Fc"],
    ["file:///{+path}", { path: "a b/c" }, "file:///a%20b/c"],
    ["db://t{/id}{?q*}", { id: "7", q: ["x", "y"] }, "db://t/7?q=x&q=y"],
    ["x:{absent}{constructor}{toString}{__proto__}", {}, "x:"]
  ])("%s", (uriTemplate, variables, expected) => {
    assert.strictEqual(Result.getOrThrow(Resource.expand({ uriTemplate }, variables)), expected)
  })

  it("refuses a template beyond measure, and reads odd ones in no time", () => {
    assert.isTrue(Result.isFailure(Resource.expand({ uriTemplate: "x".repeat(8193) }, {})))
    for (
      const odd of ["{", "}", "{{", "{?", "{a", "{,,,}", "{a:99999999999}", "{".repeat(8192), "{a*:}".repeat(1600)]
    ) {
      assert.isTrue(Result.isResult(Resource.expand({ uriTemplate: odd }, { a: "1" })))
    }
  })
})
