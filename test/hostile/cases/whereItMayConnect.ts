/**
 * Where it may connect: rows 20 to 22. Row 23 is in `proxies.ts`, row 24 in `endpointEvents.ts`.
 */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Dns from "effect/net/Dns"
import { inspect } from "node:util"
import { EgressGuard } from "../../../src/index.ts"
import { certificate } from "../../support/certificate.ts"
import * as Raw from "../../support/rawServer.ts"
import { resolver } from "../../support/resolver.ts"
import { quotesNoSecret, secret } from "../kit/secret.ts"
import type { Case } from "../kit/suite.ts"
import { answer, chunk, end, head, json, jsonType, openStream, pause, reset, script } from "../kit/wire.ts"
import { endpointEvents } from "./endpointEvents.ts"

const secretPath = `${secret}/mcp?token=${secret}#${secret}`

/**
 * A host that is refused before anything is dialled.
 */
const refused = (given: Pick<Case, "row" | "name" | "guard" | "pool" | "url" | "check">): Case => ({
  act: "connect",
  sees: [],
  dials: 0,
  guard: EgressGuard.standard,
  outcome: "ConnectionFailed/EgressDenied",
  ...given
})

const spellings: Readonly<Record<string, ReadonlyArray<string>>> = {
  loopback: ["127.0.0.1", "127.0.0.1.", "127.255.255.254", "[::1]", "[0:0:0:0:0:0:0:1]", "[::0.0.0.1]"],
  unspecified: ["0.0.0.0", "0.1.2.3", "[::]", "[0:0:0:0:0:0:0:0]"],
  "link-local": ["169.254.169.254", "169.254.0.1", "[fe80::1]", "[febf::a9fe:a9fe]"],
  multicast: ["224.0.0.1", "239.255.255.255", "[ff02::1]", "[ff0e::1]"],
  broadcast: ["255.255.255.255"],
  "a metadata service": ["100.100.100.200", "168.63.129.16", "192.0.0.192", "[fd00:ec2::254]", "[fd20:ce::254]"],
  decimal: ["2130706433", "0", "2852039166", "3758096385"],
  hex: ["0x7f000001", "0x7f.0.0.1", "0X7F.0x0.0x0.0x1", "0x0", "0xa9fea9fe"],
  octal: ["017700000001", "0177.0.0.1", "0251.0376.0251.0376"],
  short: ["127.1", "127.0.1", "169.254.43518"],
  "mixed bases": ["0x7f.0.00.01", "0177.0x1"],
  fullwidth: ["１２７.0.0.1", "①②⑦.⓪.⓪.①", "127。0。0。1", "127.0.0．1"],
  "percent-encoded": ["%31%32%37.0.0.1", "loc%61lhost"],
  "a name of this host": ["localhost", "localhost.", "LocalHost", "a.localhost", "a.b.localhost.", "ⓛocalhost"],
  mapped: ["[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::ffff:0.0.0.0]", "[::ffff:169.254.169.254]"],
  compatible: ["[::127.0.0.1]", "[::a9fe:a9fe]"],
  translated: ["[::ffff:0:127.0.0.1]", "[::ffff:0:a9fe:a9fe]"],
  NAT64: ["[64:ff9b::127.0.0.1]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::127.0.0.1]", "[64:ff9b:1:7f00:0:100::]"],
  "6to4": ["[2002:7f00:1::]", "[2002:a9fe:a9fe::1]"],
  Teredo: ["[2001:0:7f00:1::]", "[2001:0:4136:e378:8000:63bf:80ff:fffe]"],
  ISATAP: ["[2001:db8::5efe:127.0.0.1]", "[2606:4700::200:5efe:a9fe:a9fe]"]
}

const literals = Object.entries(spellings).flatMap(([kind, hosts]) =>
  hosts.map((host) => {
    const urlAt = (port: number): string => `http://${host}:${port}/${secretPath}`
    return refused({
      row: 20,
      name: `${kind}: ${host}`,
      url: ({ port }) => urlAt(port),
      check: (error) => {
        const { hostname } = new URL(urlAt(1))
        assert.strictEqual(error.reason.host, hostname.replace(/^\[|[\].]+$/g, ""))
        quotesNoSecret(error)
      }
    })
  })
)

const wholeUrls = [
  "https://127.0.0.1:PORT/mcp",
  "https://localhost:PORT/mcp",
  "HTTP://127.0.0.1:PORT/mcp",
  "http:127.0.0.1:PORT/mcp",
  "http:\\\\127.0.0.1:PORT\\mcp",
  "http:////127.0.0.1:PORT/mcp",
  " http://127.0.0.1:PORT/mcp",
  "http://local\thost:PORT/mcp"
].map((text) =>
  refused({
    row: 20,
    name: `the URL ${JSON.stringify(text)}`,
    url: ({ port }) => text.replace("PORT", String(port))
  })
)

/**
 * A name that has only the given addresses. The refusal names it and its address, and says only the first.
 */
const resolved = (row: number, name: string, addresses: ReadonlyArray<string>, guard = EgressGuard.standard): Case => {
  const { dns, lookups } = resolver(addresses)
  return refused({
    row,
    name,
    guard,
    pool: { dns },
    url: ({ port }) => `http://mcp.example:${port}/${secretPath}`,
    check: (error) => {
      assert.strictEqual(error.reason.host, "mcp.example")
      assert.include(addresses, error.reason.address)
      assert.notInclude(error.message, error.reason.address)
      assert.deepStrictEqual(lookups, ["mcp.example"])
      quotesNoSecret(error)
    }
  })
}

const resolvedNames = Object.entries({
  loopback: ["127.0.0.1", "127.255.255.254", "::1"],
  unspecified: ["0.0.0.0", "::"],
  "link-local": ["169.254.169.254", "fe80::1"],
  multicast: ["224.0.0.1", "ff02::1"],
  broadcast: ["255.255.255.255"],
  "a metadata service": ["100.100.100.200", "fd00:ec2::254"],
  mapped: ["::ffff:127.0.0.1", "::ffff:169.254.169.254"],
  compatible: ["::7f00:1"],
  translated: ["::ffff:0:7f00:1"],
  NAT64: ["64:ff9b::7f00:1", "64:ff9b:1::7f00:1"],
  "6to4": ["2002:7f00:1::"],
  Teredo: ["2001:0:7f00:1::", "2001:0:4136:e378:8000:63bf:80ff:fffe"],
  ISATAP: ["2001:db8::5efe:7f00:1"]
}).flatMap(([kind, addresses]) =>
  addresses.map((address) => resolved(20, `a name that resolves to ${address} (${kind})`, [address]))
)

/**
 * What other policies refuse.
 */
const policies: ReadonlyArray<readonly [string, EgressGuard.Policy, ReadonlyArray<string>]> = [
  ["publicOnly", EgressGuard.publicOnly, [
    "127.0.0.1",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.0.1",
    "167772161",
    "100.64.0.1",
    "198.18.0.1",
    "203.0.113.1",
    "240.0.0.1",
    "[fd12::1]",
    "[2001:db8::1]",
    "[::ffff:10.0.0.1]",
    "[64:ff9b::10.0.0.1]",
    "[2002:c0a8:1::1]"
  ]],
  ["allowLoopback", EgressGuard.allowLoopback, [
    "0.0.0.0",
    "[::]",
    "169.254.169.254",
    "[fe80::1]",
    "[fd00:ec2::254]",
    "224.0.0.1",
    "[64:ff9b::a9fe:a9fe]"
  ]],
  ["allow: 127.0.0.1", EgressGuard.make({ allow: ["127.0.0.1"] }), [
    "127.0.0.2",
    "localhost",
    "[::1]",
    "[64:ff9b::7f00:1]"
  ]]
]

const underPolicies = policies.flatMap(([policy, guard, hosts]) =>
  hosts.map((host) =>
    refused({
      row: 20,
      name: `under ${policy}: ${host}`,
      guard,
      url: ({ port }) => `http://${host}:${port}/mcp`
    })
  )
)

const onlyLoopbackOne = EgressGuard.make({ allow: ["127.0.0.1"] })

const byName = ({ port }: Raw.RawServer): string => `http://mcp.example:${port}/mcp`

/**
 * Answers, and closes the connection: the next request is a new dial.
 */
const closing = (text: Parameters<typeof json>[0], status = 200): Raw.Responder =>
  script((request) => {
    const body = text(request)
    return head(status, { "content-type": jsonType, connection: "close", "content-length": String(body.length) }) + body
  }, end)

const closingDiscover = closing(answer(JSON.stringify(Raw.discoverResult)))

/**
 * A name whose look-ups are answered one after the other. The guard lets 127.0.0.1 through, and no other loopback.
 */
const changing = (
  answers: ReadonlyArray<ReadonlyArray<string>>,
  { check, ...rest }: Omit<Case, "row">
): Case => {
  const { dns, lookups } = resolver(...answers)
  return {
    row: 21,
    guard: onlyLoopbackOne,
    pool: { dns },
    url: byName,
    check: (got, server) => {
      assert.lengthOf(lookups, answers.length)
      check?.(got, server)
    },
    ...rest
  }
}

const refusedAddress = (error: any): void => assert.strictEqual(error.reason.address, "127.0.0.2")

const changingNames: ReadonlyArray<Case> = [
  changing([["127.0.0.1"]], {
    name: "is looked up once for a dial, and not again while the socket is there",
    outcome: "ok"
  }),
  changing([["127.0.0.1"], ["127.0.0.1"]], {
    name: "is looked up anew for the next dial",
    answers: { "server/discover": closingDiscover },
    outcome: "ok",
    dials: 2
  }),
  changing([["127.0.0.2"]], {
    name: "is not looked up again once it is refused",
    act: "connect",
    sees: [],
    dials: 0,
    outcome: "ConnectionFailed/EgressDenied",
    check: refusedAddress
  }),
  changing([["127.0.0.1"], ["127.0.0.2"]], {
    name: "changes between two requests",
    answers: { "server/discover": closingDiscover },
    sees: [],
    outcome: "ConnectionFailed/EgressDenied",
    check: refusedAddress
  }),
  changing([["127.0.0.1"], ["127.0.0.1", "127.0.0.2"]], {
    name: "gets a second address between two requests",
    answers: { "server/discover": closingDiscover },
    sees: [],
    outcome: "ConnectionFailed/EgressDenied",
    check: refusedAddress
  }),
  changing([["127.0.0.1"], ["127.0.0.2"]], {
    name: "changes between two pages",
    act: "list",
    answers: { "tools/list": closing(answer(`{"tools":[],"nextCursor":"2"}`)) },
    outcome: "ConnectionFailed/EgressDenied",
    check: refusedAddress
  }),
  changing([["127.0.0.1"], ["127.0.0.2"]], {
    name: "legacy: changes between server/discover and initialize",
    speaks: "2025-11-25",
    answers: { "server/discover": closing(() => "{}", 400) },
    act: "connect",
    sees: ["server/discover"],
    outcome: "ConnectionFailed/EgressDenied",
    check: refusedAddress
  }),
  changing([["127.0.0.1"], ["127.0.0.2"], ["127.0.0.1"]], {
    name: "legacy: changes before a stream is taken up again",
    speaks: "2025-11-25",
    answers: { "tools/call": script(openStream, chunk("id: 1\nretry: 0\n\n"), pause(1), reset) },
    dials: 2,
    outcome: "ConnectionFailed/EgressDenied",
    check: refusedAddress
  })
]

const mixedNames = [
  ["8.8.8.8", "127.0.0.1"],
  ["127.0.0.1", "8.8.8.8"],
  ["2606:4700::1", "::1"],
  ["2606:4700::1", "127.0.0.1"],
  ["8.8.8.8", "::1"],
  ["8.8.8.8", "::ffff:127.0.0.1"],
  ["8.8.8.8", "64:ff9b::7f00:1"],
  ["8.8.8.8", "169.254.169.254"],
  ["8.8.8.8", "8.8.4.4", "1.1.1.1", "0.0.0.0"]
].map((addresses) => resolved(21, `has the addresses ${addresses.join(" and ")}`, addresses))

/**
 * Nothing was sent, and the error says so.
 */
const undelivered = ({ check, ...rest }: Omit<Case, "row" | "outcome">): Case => ({
  row: 21,
  act: "connect",
  sees: [],
  dials: 0,
  url: byName,
  outcome: "ConnectionFailed/Unreachable",
  check: (error, server) => {
    assert.strictEqual(error.reason.delivered, "no")
    check?.(error, server)
  },
  ...rest
})

const withDetail = (detail: string | RegExp) => ({ reason }: any): void =>
  typeof detail === "string" ? assert.strictEqual(reason.detail, detail) : assert.match(reason.detail, detail)

const dnsOf = (lookup: Effect.Effect<never, Dns.DnsError>): Dns.Dns["Service"] => Dns.make({ lookup: () => lookup })

const dnsFailing = (reason: Dns.DnsErrorReason): Dns.Dns["Service"] =>
  dnsOf(Effect.fail(new Dns.DnsError({ reason, method: "lookup", hostname: "mcp.example" })))

const connectTimeout = "150 millis"
const overTls = ({ port }: Raw.RawServer): string => `https://127.0.0.1:${port}/mcp`

const deadNames: ReadonlyArray<Case> = [
  undelivered({
    name: "hangs: the dial has a limit of its own",
    pool: { dns: dnsOf(Effect.never), connectTimeout },
    check: withDetail(/150ms/)
  }),
  undelivered({
    name: "hangs, at an https server",
    url: ({ port }) => `https://mcp.example:${port}/mcp`,
    pool: { dns: dnsOf(Effect.never), connectTimeout },
    check: withDetail(/150ms/)
  }),
  undelivered({
    name: "hangs, and cannot be given up",
    pool: { dns: dnsOf(Effect.uninterruptible(Effect.delay(Effect.interrupt, 300))), connectTimeout },
    check: withDetail(/150ms/)
  }),
  {
    row: 21,
    name: "hangs for longer than the request may take",
    act: "connect",
    sees: [],
    dials: 0,
    url: byName,
    pool: { dns: dnsOf(Effect.never) },
    deadline: 150,
    outcome: "ConnectionFailed/TimedOut"
  },
  ...(["NotFound", "Timeout", "Temporary", "Refused", "ServerFailure", "BadName", "Unknown"] as const).map((reason) =>
    undelivered({
      name: `does not exist: ${reason}`,
      pool: { dns: dnsFailing(reason) },
      check: withDetail(reason)
    })
  ),
  undelivered({ name: "has no address", pool: { dns: resolver([]).dns } }),
  undelivered({
    name: "does not exist, at an https server",
    url: () => "https://mcp.example/",
    pool: { dns: dnsFailing("NotFound") }
  }),
  undelivered({ name: "a resolver that dies", pool: { dns: dnsOf(Effect.die("no")) } }),
  undelivered({ name: "a resolver that interrupts itself", pool: { dns: dnsOf(Effect.interrupt) } }),
  undelivered({
    name: "a resolver that throws",
    pool: {
      dns: {
        ...dnsOf(Effect.never),
        lookup: () => {
          throw new Error("no")
        }
      }
    }
  })
]

// The server listens at 127.0.0.1 alone.
const refusedPorts: ReadonlyArray<Case> = [
  undelivered({
    name: "a refused port, at an address",
    url: ({ port }) => `http://127.0.0.2:${port}/mcp`,
    check: withDetail("ECONNREFUSED")
  }),
  ...[["127.0.0.2"], ["127.0.0.2", "127.0.0.3"], ["127.0.0.2", "::1"]].map((addresses) =>
    undelivered({
      name: `a refused port, at ${addresses.join(" and ")}`,
      pool: { dns: resolver(addresses).dns },
      check: withDetail("ECONNREFUSED")
    })
  ),
  {
    row: 21,
    name: "one address that refuses the port, and one that does not",
    pool: { dns: resolver(["127.0.0.2", "127.0.0.1"]).dns },
    url: byName,
    outcome: "ok"
  },
  undelivered({
    name: "an open port that says nothing in TLS",
    url: overTls,
    dials: 1,
    pool: { connectTimeout },
    check: withDetail(/150ms/)
  }),
  undelivered({
    name: "a certificate of another name",
    tls: true,
    url: ({ port }) => `https://mcp.example:${port}/mcp`,
    pool: { dns: resolver(["127.0.0.1"]).dns, tls: { ca: certificate.cert } },
    check: withDetail("ERR_TLS_CERT_ALTNAME_INVALID")
  })
]

/**
 * A URL that is none, or that says too much. Nothing of it is quoted, whatever the guard.
 */
const notAUrl = (name: string, url: unknown, guard: EgressGuard.Policy = EgressGuard.standard): Case => ({
  row: 22,
  name,
  act: "connect",
  sees: [],
  dials: 0,
  guard,
  options: { url: url as string },
  outcome: "InvalidInput",
  check: (error) => {
    assert.isUndefined(error.server)
    quotesNoSecret(error)
  }
})

const megabyte = secret.repeat(2 ** 20 / secret.length)

const badUrls: ReadonlyArray<Case> = [
  notAUrl("a user", `http://${secret}@mcp.example/mcp`),
  notAUrl("a password", `http://:${secret}@mcp.example/mcp`),
  notAUrl("a user and a password", `https://${secret}:${secret}@mcp.example/mcp`),
  notAUrl("a user, percent-encoded", `https://%40${secret}%3A@mcp.example/mcp`),
  notAUrl("a user at a refused address", `http://${secret}@127.0.0.1/mcp`),
  notAUrl("a user, where anything may be reached", `http://${secret}@127.0.0.1/mcp`, EgressGuard.unrestricted),
  notAUrl("a URL object with a user", new URL(`http://${secret}@mcp.example/mcp`)),
  ...["ftp", "file", "ws", "wss", "gopher", "unix"].map((scheme) =>
    notAUrl(`${scheme}:`, `${scheme}://mcp.example/${secret}`)
  ),
  notAUrl("file: without a host", `file:///etc/${secret}`),
  notAUrl("ftp:, where anything may be reached", `ftp://mcp.example/${secret}`, EgressGuard.unrestricted),
  ...["javascript", "data", "mailto", "blob:http", "view-source:http", "localhost"].map((scheme) =>
    notAUrl(`${scheme}:`, `${scheme}:${secret}`)
  ),
  notAUrl("a URL object of another scheme", new URL(`file:///etc/${secret}`)),
  ...Object.entries({
    "a word": secret,
    "a path": `/${secret}`,
    "a query": `?${secret}`,
    "no scheme": `//mcp.example/${secret}`,
    "an address without a scheme": `127.0.0.1:80/${secret}`,
    "a name without a scheme": `mcp.example/${secret}`,
    "a scheme alone": `http://?${secret}`,
    "a space in the host": `http://${secret} a/`,
    "an unclosed bracket": `http://[${secret}/`,
    "a port beyond measure": `http://mcp.example:99999/${secret}`,
    "a port that is no number": `http://mcp.example:${secret}/`,
    "a bad percent": `http://%zz${secret}/`,
    "five numbers": `http://1.2.3.4.5/${secret}`,
    "a number over 255": `http://256.0.0.1/${secret}`,
    "a zone": `http://[fe80::1%25${secret}]/`,
    "NUL in the host": `http://${secret}\0/`,
    "a lone surrogate in the host": `http://${secret}\ud800/`,
    "1 MB of path": `http://mcp.example/${megabyte}`,
    "1 MB of query": `http://mcp.example/?${megabyte}`,
    "1 MB of fragment": `http://mcp.example/#${megabyte}`,
    "1 MB of host": `http://${megabyte}/`,
    "1 MB of user": `http://${megabyte}@mcp.example/`,
    "1 MB of words": megabyte,
    "1 MB of spaces": `${" ".repeat(2 ** 20)}http://mcp.example/${secret}`
  }).map(([name, url]) => notAUrl(name, url)),
  ...[undefined, null, 5, {}, [secret], { href: 5 }, { toString: () => secret }].map((url) =>
    notAUrl(`no string: ${inspect(url)}`, url)
  ),
  notAUrl("an empty string", "")
]

export const whereItMayConnect: ReadonlyArray<Case> = [
  ...literals,
  ...wholeUrls,
  ...resolvedNames,
  ...underPolicies,
  ...changingNames,
  ...mixedNames,
  ...deadNames,
  ...refusedPorts,
  ...badUrls,
  ...endpointEvents
]
