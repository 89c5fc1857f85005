/**
 * Versions that nobody speaks: row 40.
 */
import { assert } from "@effect/vitest"
import { ProtocolVersion } from "../../../src/index.ts"
import type * as Raw from "../../support/rawServer.ts"
import { inTurn } from "../kit/streams.ts"
import type { Case } from "../kit/suite.ts"
import {
  answer,
  asStream,
  event,
  head,
  initialized,
  json,
  lastChunk,
  script,
  type Step,
  streamType,
  whole
} from "../kit/wire.ts"

const { legacy, modern } = ProtocolVersion
const [ours] = modern

const unsupported = "ConnectionFailed/UnsupportedVersion"

/**
 * What was offered, and what the server named.
 */
const says = ({ message, reason }: any, offered: ReadonlyArray<string>, supported: ReadonlyArray<string>): void => {
  assert.deepStrictEqual(reason.offered, offered)
  assert.deepStrictEqual(reason.supported, supported)
  for (const version of [...offered, ...supported]) assert.include(message, version)
  assert.isBelow(message.length, 2000)
}

/**
 * The last request ends this session.
 */
const ends = ({ requests }: Raw.RawServer, session: string): void => {
  assert.strictEqual(requests.at(-1)?.httpMethod, "DELETE")
  assert.strictEqual(requests.at(-1)?.headers["mcp-session-id"], session)
}

const initializeResult = (members: object): string => JSON.stringify({ capabilities: { tools: {} }, ...members })

/**
 * `initialize` is answered with these members of a result, and with a session.
 */
const initializing = (
  name: string,
  members: object,
  supported: ReadonlyArray<string>,
  { answers, ...given }: Partial<Case> = {}
): Case => ({
  row: 40,
  name: `initialize is answered with ${name}`,
  speaks: "2025-11-25",
  answers: { initialize: script(initialized(initializeResult(members), "s1")), ...answers },
  act: "connect",
  sees: ["server/discover", "initialize", "DELETE"],
  outcome: unsupported,
  check: (error, server) => {
    says(error, legacy, supported)
    ends(server, "s1")
  },
  ...given
})

const otherStrings = [
  "9999",
  "",
  ours,
  "2026-07-29",
  "2025-11-24",
  "2024-10-07",
  "2025-11-25 ",
  " 2025-11-25",
  "2025-11",
  "20251125",
  "DRAFT-2026-v1",
  "latest",
  "1.0",
  "constructor"
]

const noStrings = [5, 20251125, null, true, ["2025-11-25"], [], { version: "2025-11-25" }]

const unspoken = { protocolVersion: "9999" }

const streamInSession = (result: string, sessionId: string): ReadonlyArray<Step> => [
  head(200, { "content-type": streamType, "transfer-encoding": "chunked", "mcp-session-id": sessionId }),
  event(answer(result)),
  lastChunk
]

const initializes: ReadonlyArray<Case> = [
  ...otherStrings.map((version) => initializing(JSON.stringify(version), { protocolVersion: version }, [version])),
  ...noStrings.map((version) => initializing(JSON.stringify(version), { protocolVersion: version }, [])),
  initializing("no version", {}, []),
  initializing("a version in another case of its key", { ProtocolVersion: "2025-11-25" }, []),
  initializing("1 MB of version", { protocolVersion: "9".repeat(2 ** 20) }, [`${"9".repeat(60)}…`]),
  initializing("a version with a line break", { protocolVersion: "2025-11-25\n" }, ["2025-11-25\\u000a"]),
  initializing("a version in colour", { protocolVersion: "\u001b[31m9999" }, ["\\u001b[31m9999"]),
  initializing("9999 on an event stream", unspoken, ["9999"], {
    answers: { initialize: script(...streamInSession(initializeResult(unspoken), "s1")) }
  }),
  initializing("9999, and no session", unspoken, ["9999"], {
    answers: { initialize: script(initialized(initializeResult(unspoken))) },
    sees: ["server/discover", "initialize"],
    check: (error) => says(error, legacy, ["9999"])
  }),
  initializing("9999, and the session's end is refused", unspoken, ["9999"], {
    answers: { DELETE: script(whole(405, undefined)) }
  }),
  initializing("9999, and the session's end is never answered", unspoken, ["9999"], {
    answers: { DELETE: () => {} },
    policy: { closeTimeout: 50 }
  }),
  initializing("9999, by a server that is known to be legacy", unspoken, ["9999"], {
    options: { protocol: "legacy" },
    sees: ["initialize", "DELETE"]
  }),
  initializing("another version than the one that is insisted on", { protocolVersion: "2025-11-25" }, [], {
    options: { protocol: "2025-06-18" },
    sees: ["initialize", "DELETE"],
    check: (error, server) => {
      says(error, ["2025-06-18"], ["2025-11-25"])
      ends(server, "s1")
    }
  })
]

/**
 * A session that is forgotten is opened anew at the version that was agreed on, or not at all.
 */
const reopenings = ["2025-06-18", "9999", ours].map((version): Case => ({
  row: 40,
  name: `a session is opened anew, and initialize is answered with ${version}`,
  speaks: "2025-11-25",
  answers: {
    "tools/call": script(whole(404, undefined)),
    initialize: inTurn(
      script(initialized(initializeResult({ protocolVersion: "2025-11-25" }), "s1")),
      script(initialized(initializeResult({ protocolVersion: version }), "s2"))
    )
  },
  sees: ["tools/call", "initialize"],
  outcome: unsupported,
  check: (error, server) => {
    says(error, ["2025-11-25"], [version])
    ends(server, "s2")
  }
}))

/**
 * The answer to `server/discover` says nothing that is spoken, and the client goes on to `initialize` and its call.
 */
const fallsBack = (name: string, ...steps: ReadonlyArray<Step>): Case => ({
  row: 40,
  name: `server/discover is answered with ${name}`,
  speaks: "2025-11-25",
  answers: { "server/discover": script(...steps) },
  outcome: "ok",
  check: ({ text }) => assert.strictEqual(text, "ok")
})

const discoverResult = (members: object): string =>
  JSON.stringify({ resultType: "complete", capabilities: { tools: {} }, ...members })

const unknown = (count: number): ReadonlyArray<string> => Array.from({ length: count }, (_, nth) => `1999-${nth}`)

const unspokenLists = [
  [],
  ["1999-01-01"],
  ["2026-07-27"],
  [`${ours} `],
  ["2025-11-25", "2025-06-18"],
  ours,
  { 0: ours, length: 1 },
  null,
  5,
  [5, null, [ours], { version: ours }]
]

const discovers: ReadonlyArray<Case> = [
  ...unspokenLists.map((versions) =>
    fallsBack(
      `supportedVersions ${JSON.stringify(versions)}`,
      json(answer(discoverResult({ supportedVersions: versions })))
    )
  ),
  fallsBack("no versions", json(answer(discoverResult({})))),
  fallsBack("versions in another case of their key", json(answer(discoverResult({ SupportedVersions: [ours] })))),
  fallsBack("10,000 unknown versions", json(answer(discoverResult({ supportedVersions: unknown(10_000) })))),
  fallsBack("none on an event stream", asStream(answer(discoverResult({ supportedVersions: [] })))),
  {
    row: 40,
    name: "server/discover is answered with 10,000 unknown versions and ours",
    answers: {
      "server/discover": script(json(answer(discoverResult({ supportedVersions: [...unknown(10_000), ours] }))))
    },
    outcome: "ok"
  }
]

const refusal = (data: unknown) => ({ message }: Raw.RawRequest): string =>
  JSON.stringify({ jsonrpc: "2.0", id: message.id, error: { code: -32022, message: "Unsupported version", data } })

const refuses = (data: unknown, status = 400): Raw.Responder => script(json(refusal(data), status))

/**
 * `server/discover` is refused so, which is the end of it.
 */
const refused = (
  name: string,
  supported: ReadonlyArray<string>,
  answers: ReadonlyArray<Raw.Responder>,
  given: Partial<Case> = {}
): Case => ({
  row: 40,
  name: `-32022 ${name}`,
  answers: { "server/discover": inTurn(...answers) },
  act: "connect",
  sees: answers.map(() => "server/discover"),
  outcome: unsupported,
  check: (error) => says(error, [...modern, ...legacy], supported),
  ...given
})

const namesOurs = { supported: [ours] }

const refusals: ReadonlyArray<Case> = [
  ...[400, 200, 404, 500].map((status) =>
    refused(`twice, at ${status}`, [ours], [refuses(namesOurs, status), refuses(namesOurs, status)])
  ),
  refused("twice, on event streams", [ours], [
    script(asStream(refusal(namesOurs))),
    script(asStream(refusal(namesOurs)))
  ]),
  refused("naming ours, then legacy versions", ["2025-11-25"], [
    refuses(namesOurs),
    refuses({ supported: ["2025-11-25"] })
  ]),
  refused("naming ours, then nothing", [], [refuses(namesOurs), refuses(undefined)]),
  ...[
    ["1999-01-01"],
    ["2026-07-29", "9999"],
    [`${ours} `],
    []
  ].map((supported) => refused(`naming ${JSON.stringify(supported)}`, supported, [refuses({ supported })])),
  ...[undefined, null, 5, [ours], {}, { supported: ours }, { supported: [5] }, { Supported: [ours] }].map((data) =>
    refused(`with the data ${JSON.stringify(data)}`, [], [refuses(data)])
  ),
  refused("naming 10,000 unknown versions", unknown(16), [refuses({ supported: unknown(10_000) })]),
  refused("naming 1 MB of version", [`${"9".repeat(60)}…`], [refuses({ supported: ["9".repeat(2 ** 20)] })]),
  refused("that names no request", ["1999-01-01"], [
    script(json(() => refusal({ supported: ["1999-01-01"] })({ message: { id: null } } as any), 400))
  ]),
  refused("naming legacy versions, where ours is insisted on", ["2025-11-25"], [
    refuses({ supported: ["2025-11-25"] })
  ], {
    options: { protocol: ours },
    check: (error) => says(error, modern, ["2025-11-25"])
  }),
  refused("naming legacy versions, and initialize is answered with 9999", ["9999"], [
    refuses({ supported: ["2025-11-25"] })
  ], {
    speaks: "2025-11-25",
    answers: {
      "server/discover": refuses({ supported: ["2025-11-25"] }),
      initialize: script(initialized(initializeResult(unspoken), "s1"))
    },
    sees: ["server/discover", "initialize", "DELETE"],
    check: (error, server) => {
      says(error, legacy, ["9999"])
      ends(server, "s1")
    }
  }),
  ...[{ supported: ["1999-01-01"] }, undefined].map((data): Case => ({
    row: 40,
    name: `-32022 to initialize, with the data ${JSON.stringify(data)}`,
    speaks: "2025-11-25",
    answers: { initialize: refuses(data) },
    act: "connect",
    sees: ["server/discover", "initialize"],
    outcome: unsupported,
    check: (error) => says(error, legacy, data?.supported ?? [])
  })),
  ...(["call", "list"] as const).map((act): Case => ({
    row: 40,
    name: `-32022 to a ${act}`,
    answers: { [`tools/${act}`]: refuses(namesOurs) },
    act,
    outcome: "ServerAnswered/RpcError",
    check: ({ reason }) => assert.strictEqual(reason.code, -32022)
  }))
]

/**
 * Refused first, and agreed with all the same.
 */
const agreements: ReadonlyArray<Case> = [
  {
    row: 40,
    name: "-32022 once, naming ours",
    answers: {
      "server/discover": inTurn(
        refuses(namesOurs),
        script(json(answer(discoverResult({ supportedVersions: [ours] }))))
      )
    },
    sees: ["server/discover", "tools/call"],
    outcome: "ok"
  },
  {
    row: 40,
    name: "-32022 naming 10,000 unknown versions and ours",
    answers: {
      "server/discover": inTurn(
        refuses({ supported: [...unknown(10_000), ours] }),
        script(json(answer(discoverResult({ supportedVersions: [ours] }))))
      )
    },
    sees: ["server/discover", "tools/call"],
    outcome: "ok"
  },
  {
    row: 40,
    name: "-32022 naming ours, then a server that knows nothing of it",
    speaks: "2025-11-25",
    answers: { "server/discover": inTurn(refuses(namesOurs), script(whole(404, undefined))) },
    act: "connect",
    sees: ["server/discover", "server/discover", "initialize", "notifications/initialized", "DELETE"],
    outcome: "ok"
  },
  ...[["2025-06-18"], ["9999", "2024-11-05"]].map((supported) => ({
    ...fallsBack(`-32022 naming ${supported.join(" and ")}`),
    answers: { "server/discover": refuses({ supported }) }
  }))
]

export const versions: ReadonlyArray<Case> = [
  ...initializes,
  ...reopenings,
  ...discovers,
  ...refusals,
  ...agreements
]
